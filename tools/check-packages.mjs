/** @file Runs publint on every package as it is published. Ends with 1 when a package has an error or a warning. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { root } from './ready.mjs';
import { stagePackages } from './stage.mjs';

let problems = 0;
for (const folder of stagePackages(join(root, '.cache', 'staged'))) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  for (const message of messages) {
    if (message.type === 'suggestion') continue;
    problems += 1;
    console.error(`${manifest.name}: ${formatMessage(message, manifest)}`);
  }
}
process.exitCode = problems === 0 ? 0 : 1;
