/** @file How different two colours look, for the test that holds the palette to its promise: CIEDE2000 (Sharma, Wu, Dalal
 * 2005), colour vision deficiencies after Machado, Oliveira, Fernandes 2009 (severity 1), contrast after WCAG 2. */

type Triple = readonly [number, number, number];

const channels = (hex: string): Triple =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as never;

const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** Machado et al., table 1, severity 1.0; on linear RGB. */
const deficiencies: Readonly<Record<Vision, readonly Triple[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

type Vision = 'normal' | 'protan' | 'deutan' | 'tritan';
const visions: readonly Vision[] = ['normal', 'protan', 'deutan', 'tritan'];

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** CIE Lab (D65) of an sRGB colour as a vision sees it. */
function labOf(hex: string, vision: Vision = 'normal'): Triple {
  const seen = channels(hex).map(linear) as unknown as Triple;
  const [r, g, b] = deficiencies[vision].map((row) =>
    clamp(row[0] * seen[0] + row[1] * seen[1] + row[2] * seen[2]),
  ) as unknown as Triple;
  const x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
  const y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b;
  const z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883;
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 / 116) * t + 16 / 116);
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))];
}

const degrees = (radians: number): number => ((radians * 180) / Math.PI + 360) % 360;
const radians = (value: number): number => (value * Math.PI) / 180;

/** The CIEDE2000 difference of two Lab colours. */
export function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [c1, c2] = [Math.hypot((1 + g) * a1, b1), Math.hypot((1 + g) * a2, b2)];
  const [h1, h2] = [degrees(Math.atan2(b1, (1 + g) * a1)), degrees(Math.atan2(b2, (1 + g) * a2))];
  const apart = h2 - h1;
  const turn = c1 * c2 === 0 ? 0 : Math.abs(apart) <= 180 ? apart : apart > 180 ? apart - 360 : apart + 360;
  const deltaH = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn) / 2);
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const sum = h1 + h2;
  const h = c1 * c2 === 0 ? sum : Math.abs(h1 - h2) <= 180 ? sum / 2 : sum < 360 ? sum / 2 + 180 : sum / 2 - 180;
  const t =
    1 -
    0.17 * Math.cos(radians(h - 30)) +
    0.24 * Math.cos(radians(2 * h)) +
    0.32 * Math.cos(radians(3 * h + 6)) -
    0.2 * Math.cos(radians(4 * h - 63));
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rotation =
    -Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2)))) * 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const [dl, dc, dh] = [(l2 - l1) / sl, (c2 - c1) / sc, deltaH / sh];
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}

/** The smallest difference between any two of `colours`, over all visions. */
export function smallestDifference(colours: readonly string[]): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const vision of visions) {
    const labs = colours.map((each) => labOf(each, vision));
    labs.forEach((one, index) => {
      for (const other of labs.slice(index + 1)) smallest = Math.min(smallest, difference(one, other));
    });
  }
  return smallest;
}

/** The contrast ratio of two colours, 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminance = (hex: string): number => {
    const [r, g, b] = channels(hex).map(linear) as unknown as Triple;
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
