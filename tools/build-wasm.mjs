/** @file Compiles the fast kernels of packages/runtime/assembly to WebAssembly and writes them as modules that hold the
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

const folder = 'packages/runtime/src/kernels/wasm/generated';

/** What is written: the portable build, and the one with relaxed vectors. */
export const builds = [
  { path: `${folder}/module.ts`, name: 'wasmKernels', features: ['simd'] },
  { path: `${folder}/relaxed.ts`, name: 'relaxedKernels', features: ['simd', 'relaxed-simd'] },
];

const flags = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--importMemory', '--use', 'abort='];

/** The text of a generated module. */
export async function generatedModule({ name, features }) {
  const enabled = features.flatMap((feature) => ['--enable', feature]);
  let bytes;
  const { error, stderr } = await asc.main(
    ['packages/runtime/assembly/index.ts', '--outFile', 'kernels.wasm', '--baseDir', root, ...flags, ...enabled],
    { writeFile: (file, content) => void (file === 'kernels.wasm' && (bytes = content)) },
  );
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,112}/g);
  return [
    '/** @file Written by tools/build-wasm.mjs from packages/runtime/assembly. */',
    '',
    '/** The compiled kernels in base64. */',
    `export const ${name}: string = [`,
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const build of builds) {
    writeFileSync(join(root, build.path), await generatedModule(build));
    console.error(build.path);
  }
}
