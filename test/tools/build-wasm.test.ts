import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedModule, generatedPath } from '../../tools/build-wasm.mjs';
import { root } from '../../tools/ready.mjs';

it('the kernels that ship are those of packages/runtime/assembly (else: node tools/build-wasm.mjs)', async () => {
  expect(readFileSync(join(root, generatedPath), 'utf8')).toBe(await generatedModule());
}, 60_000);
