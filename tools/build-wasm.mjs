/** @file Compiles the fast kernels of packages/runtime/assembly to WebAssembly and writes them as a module that holds the
 * bytes, so that whatever loads the runtime has them: a thread, a test on sources, a bundle for a browser.
 *
 *   node tools/build-wasm.mjs
 *
 * A test compiles them anew and compares. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { root } from './ready.mjs';

export const generatedPath = 'packages/runtime/src/kernels/wasm/generated/module.ts';

const flags = [
  '-O3',
  '--converge',
  '--noAssert',
  '--runtime',
  'stub',
  '--importMemory',
  '--enable',
  'simd',
  '--use',
  'abort=',
];

/** The text of the generated module. */
export async function generatedModule() {
  let bytes;
  const { error, stderr } = await asc.main(
    ['packages/runtime/assembly/index.ts', '--outFile', 'kernels.wasm', '--baseDir', root, ...flags],
    { writeFile: (name, content) => void (name === 'kernels.wasm' && (bytes = content)) },
  );
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,112}/g);
  return [
    '/** @file Written by tools/build-wasm.mjs from packages/runtime/assembly. */',
    '',
    '/** The compiled kernels in base64. */',
    'export const wasmKernels: string = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, generatedPath), await generatedModule());
  console.error(generatedPath);
}
