import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builds, generatedModule } from '../../tools/build-wasm.mjs';
import { root } from '../../tools/ready.mjs';

it.each(builds)(
  '$path is what packages/runtime/assembly compiles to (else: node tools/build-wasm.mjs)',
  async (build) => {
    expect(readFileSync(join(root, build.path), 'utf8')).toBe(await generatedModule(build));
  },
  60_000,
);
