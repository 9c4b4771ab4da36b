import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cluster from '@meshwright/core/cluster';
import * as errors from '@meshwright/core/errors';
import * as frameworks from '@meshwright/core/frameworks';
import * as io from '@meshwright/core/io';
import * as job from '@meshwright/core/job';
import * as layout from '@meshwright/core/layout';
import * as program from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../../tools/generate-docs.mjs';
import { root } from '../../tools/ready.mjs';

describe('generated pages', () => {
  const pages = Object.entries(
    generatedPages({ ...cluster, ...errors, ...frameworks, ...io, ...job, ...layout, ...program }),
  );
  it.each(pages)('%s is what the code says (else: node tools/generate-docs.mjs)', (path, text) => {
    const file = join(root, path);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });
});
