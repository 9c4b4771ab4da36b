/** @file OpenBLAS of this machine, called through koffi. Both are optional: what is not there is said in words. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** The arguments of `cblas_sgemm`, pointers as numbers. */
export type Sgemm = (
  ...given: [
    ...forms: [order: number, transposeA: number, transposeB: number],
    ...sizes: [m: number, n: number, k: number],
    ...a: [alpha: number, a: number, lda: number],
    ...b: [b: number, ldb: number],
    ...c: [beta: number, c: number, ldc: number],
  ]
) => void;

export interface OpenBlas {
  readonly path: string;
  /** The processor that its kernels are made for, in its own words. */
  readonly core: string;
  readonly sgemm: Sgemm;
  /** Where memory of this process begins. */
  readonly addressOf: (memory: ArrayBufferLike) => number;
}

export type Found =
  | { readonly kind: 'found'; readonly library: OpenBlas }
  /** `what` is missing: the package that calls libraries, or the library itself. */
  | { readonly kind: 'missing'; readonly what: 'koffi' | 'library'; readonly tried: readonly string[] };

type Koffi = typeof import('koffi');

const loadKoffi = (): Koffi => createRequire(import.meta.url)('koffi') as Koffi;

/** Where the library of each system is looked for; the loader searches its own folders for bare names. */
const places: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['libopenblas.so.0', 'libopenblas.so'],
  darwin: [
    '/opt/homebrew/opt/openblas/lib/libopenblas.dylib',
    '/usr/local/opt/openblas/lib/libopenblas.dylib',
    'libopenblas.dylib',
  ],
  win32: ['libopenblas.dll', 'openblas.dll'],
};

/** The library named by MESHWRIGHT_OPENBLAS, or the first that is found where the system keeps its libraries. */
export function findOpenBlas(
  named: string | undefined = process.env['MESHWRIGHT_OPENBLAS'],
  load: () => Koffi = loadKoffi,
): Found {
  const tried = named === undefined ? (places[process.platform] ?? []) : [named];
  let koffi: Koffi;
  try {
    koffi = load();
  } catch {
    return { kind: 'missing', what: 'koffi', tried };
  }
  for (const path of tried) {
    const library = open(koffi, path);
    if (library) return { kind: 'found', library };
  }
  return { kind: 'missing', what: 'library', tried };
}

function open(koffi: Koffi, path: string): OpenBlas | undefined {
  try {
    const handle = modernCore(koffi, path, koffi.load(path));
    const numbers = 'int, int, int, int, int, int, float, uintptr_t, int, uintptr_t, int, float, uintptr_t, int';
    const sgemm = handle.func(`void cblas_sgemm(${numbers})`) as unknown as Sgemm;
    handle.func('void openblas_set_num_threads(int)')(1);
    return {
      path,
      core: coreOf(handle),
      sgemm,
      addressOf: (memory) => Number(koffi.address(new Uint8Array(memory))),
    };
  } catch {
    return undefined;
  }
}

type Handle = ReturnType<Koffi['load']>;

const coreOf = (handle: Handle): string => String(handle.func('const char *openblas_get_corename()')());

/** What OpenBLAS takes a processor for that is newer than itself: kernels of 2004, at a fifth of the speed. */
const OLDEST = 'Prescott';

/** A library that does not know this processor is loaded once more and told which one it is like. Only in the main
 * thread, which comes first: threads share the loaded library, and the environment of the process with it. */
function modernCore(koffi: Koffi, path: string, handle: Handle): Handle {
  const like = coreLike(processorFlags());
  if (!isMainThread || like === undefined || process.env['OPENBLAS_CORETYPE'] || coreOf(handle) !== OLDEST) {
    return handle;
  }
  handle.unload();
  process.env['OPENBLAS_CORETYPE'] = like;
  return koffi.load(path);
}

/** The known processor with the widest vectors that these flags promise. */
export function coreLike(flags: ReadonlySet<string>): string | undefined {
  const has = (...names: readonly string[]): boolean => names.every((name) => flags.has(name));
  if (has('avx512f', 'avx512cd', 'avx512bw', 'avx512dq', 'avx512vl')) return 'SkylakeX';
  return has('avx2', 'fma') ? 'Haswell' : undefined;
}

/** What Linux says of the first processor; empty elsewhere. */
function processorFlags(): ReadonlySet<string> {
  try {
    const line = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'));
    return new Set((line?.[1] ?? '').trim().split(/\s+/));
  } catch {
    return new Set();
  }
}

/** Why there is no OpenBLAS, and what to do about it. */
export function missingWords({ what, tried }: Found & { readonly kind: 'missing' }): {
  readonly message: string;
  readonly hint: string;
} {
  const otherwise = 'or leave --kernels out.';
  if (what === 'koffi') {
    const message = 'the package koffi, which calls OpenBLAS, is not installed.';
    return { message, hint: `Install it beside meshwright (npm install koffi@3.3.4), ${otherwise}` };
  }
  const names = tried.length === 0 ? 'no known name on this system' : tried.join(', ');
  const message = `OpenBLAS is not there (tried ${names}).`;
  const hint = `Install it (libopenblas0 on Debian, openblas by brew), or name it by MESHWRIGHT_OPENBLAS, ${otherwise}`;
  return { message, hint };
}
