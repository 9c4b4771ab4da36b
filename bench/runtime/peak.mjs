/** @file The most that 128-bit vectors of WebAssembly compute on this machine: a loop of products and sums that touches registers
 * alone. No kernel of these vectors is faster, whatever it computes. */
import asc from 'assemblyscript/asc';

/** Sums that wait for nothing but themselves: more than a processor begins before the first has ended, fewer than its registers. */
const FUSED = 12;
const STEPS = 2_000_000;
const SAMPLES = 15;

const named = (letter, count) => Array.from({ length: count }, (_, index) => `${letter}${index}`);
const fused = named('s', FUSED);
const [rows, columns] = [named('a', 4), named('b', 2)];
const tile = rows.flatMap((a) => columns.map((b) => ({ a, b, sum: `s${a}${b}` })));

/** Names of a loop's vectors, its statements, and the operations on one lane. In two roundings it is the tile of a product whose columns
 * change from step to step: a product of what does not change would be taken out of the loop. */
const loops = {
  wasm: {
    vectors: fused,
    statements: fused.map((sum) => `${sum} = f32x4.relaxed_madd(${sum}, by, by);`),
    operations: 2 * FUSED,
  },
  'wasm-portable': {
    vectors: [...rows, ...columns, ...tile.map(({ sum }) => sum)],
    statements: [
      ...columns.map((b, index) => `${b} = f32x4.add(${b}, a${index});`),
      ...tile.map(({ a, b, sum }) => `${sum} = f32x4.add(${sum}, f32x4.mul(${a}, ${b}));`),
    ],
    operations: columns.length + 2 * tile.length,
  },
};

const source = ({ vectors, statements }) => `
export function peak(steps: i32, factor: f32): f32 {
  const by = f32x4.splat(factor);
  let ${vectors.map((name, index) => `${name} = f32x4.splat(factor * ${index + 1})`).join(', ')};
  for (let i = 0; i < steps; i++) {
    ${statements.join('\n    ')}
  }
  return f32x4.extract_lane(${vectors.reduce((all, name) => `f32x4.add(${all}, ${name})`)}, 0);
}`;

/** FLOPs a second of processor time, at the fastest of some samples; `kernels` names the build. */
export async function peakRate(kernels) {
  let bytes;
  const features = ['simd', ...(kernels === 'wasm' ? ['relaxed-simd'] : [])].flatMap((feature) => [
    '--enable',
    feature,
  ]);
  const flags = ['-O3', '--noAssert', '--runtime', 'stub'];
  const { error, stderr } = await asc.main(['peak.ts', '--outFile', 'peak.wasm', ...flags, ...features], {
    readFile: (name) => (name === 'peak.ts' ? source(loops[kernels]) : null),
    writeFile: (name, content) => {
      if (name === 'peak.wasm') bytes = content;
    },
    listFiles: () => [],
  });
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  const { instance } = await WebAssembly.instantiate(bytes);
  let least = Infinity;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = process.cpuUsage();
    instance.exports.peak(STEPS, 1);
    const { user, system } = process.cpuUsage(before);
    // The engine compiles the loop anew while the first samples run.
    if (sample > 2) least = Math.min(least, (user + system) / 1e6);
  }
  return (STEPS * 4 * loops[kernels].operations) / least;
}
