/** @file `meshwright serve`: the studio on this machine, with real runs. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, issue } from '@meshwright/core/errors';
import { siteFolder } from '@meshwright/studio';
import type { Host, Session } from '../host.ts';
import { runLesson } from '../serve/run-lesson.ts';
import { createStudioServer } from '../serve/server.ts';
import { readSite, type SiteFile } from '../serve/site.ts';

const HIGHEST_PORT = 65_535;

/** Adds `serve`. */
export function registerServe(command: Command, { host }: Session): void {
  command
    .command('serve')
    .description('The studio in a browser of this machine: plan, step through, run. Ends with Ctrl-C.')
    .addOption(new Option('--port <N>', 'a port; without, a free one').argParser(portOf).default(0))
    .action(async ({ port }) => {
      const token = randomBytes(24).toString('base64url');
      const server = createStudioServer({ site: siteOrRefuse(), token, run: runLesson });
      server.listen(port, '127.0.0.1');
      try {
        await once(server, 'listening');
      } catch (error) {
        const why =
          error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' ? 'is taken' : 'cannot be used';
        throw new InputError([
          issue('PORT_NOT_FREE', '--port', `port ${port} ${why}.`, 'Name another, or leave it out.'),
        ]);
      }
      const { port: given } = server.address() as AddressInfo;
      host.out.write(`http://127.0.0.1:${given}/?token=${token}\n`);
      host.err.write('Open the address above. It is reachable from this machine only. Ctrl-C ends it.\n');
      await interrupted(host);
      server.closeAllConnections();
      server.close();
    });
}

function siteOrRefuse(): ReadonlyMap<string, SiteFile> {
  const site = readSite(fileURLToPath(siteFolder));
  if (site) return site;
  throw new InputError([
    issue('STUDIO_NOT_BUILT', '', 'the studio has not been built.', 'Run npm run build in the repository.'),
  ]);
}

const interrupted = (host: Host): Promise<void> => new Promise((resolve) => void host.onInterrupt(() => resolve()));

function portOf(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && value <= HIGHEST_PORT) return value;
  throw new InputError([issue('VALUE_OUT_OF_RANGE', '--port', `${text} is not a port.`, `Use 0 to ${HIGHEST_PORT}.`)]);
}
