/** @file Writes the fitted constants and the hardware facts as TypeScript, in the formatter's own style. */
import { readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../../packages/core/src/cluster/generated/', import.meta.url);
const head = '// Written by bench/fit.mjs from data/. Do not edit: change the data and run it again.\n';
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);
const text = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value));
const tuple = (values) => `[${values.map(text).join(', ')}]`;

/** Writes the files, or with `check` compares and answers the names that differ. */
export function writeGenerated({ hardware, gemm, shared, curves }, check) {
  const different = [];
  const put = (name, content) => {
    const file = new URL(name, folder);
    if (!check) writeFileSync(file, content);
    else if (readFileSync(file, 'utf8') !== content) different.push(name);
  };
  const filled = (row) => row.map((value) => (String(value).startsWith('fit:') ? shared[value.slice(4)] : value));
  const group = (name, type, entries) => {
    const body = Object.entries(entries).map(([entry, facts]) => {
      const lines = Object.entries(facts).map(([fact, row]) => `    ${key(fact)}: ${tuple(filled(row))},\n`);
      return `  ${key(entry)}: {\n${lines.join('')}  },\n`;
    });
    return `export const ${name}: ${type} = {\n${body.join('')}};\n`;
  };
  const sources = Object.entries(hardware.sources).map(([name, value]) => {
    const line = `  ${key(name)}: ${text(value)},\n`;
    return line.length <= 121 ? line : `  ${key(name)}:\n    ${text(value)},\n`;
  });
  put(
    'hardware.ts',
    `${head}import type { DeviceName, DeviceRows, SourceKey } from '../fit-types.ts';

export const factsAsOf: string = ${text(hardware.asOf)};

export const factSources: Readonly<Record<SourceKey, string>> = {
${sources.join('')}};

${group('deviceRows', 'Readonly<Record<DeviceName, DeviceRows>>', hardware.devices)}`,
  );
  put(
    'links.ts',
    `${head}import type { HostName, HostRows, NicTable, PcieTable, SwitchTable } from '../fit-types.ts';

${group('switchRows', 'SwitchTable', hardware.switches)}
${group('pcieRows', 'PcieTable', hardware.pcie)}
${group('nicRows', 'NicTable', hardware.nics)}
${group('hostRows', 'Readonly<Record<HostName, HostRows>>', hardware.hosts)}`,
  );
  const fits = gemm.map(({ gpu, dtype, e, k0, t0, f1, f2, q, source }) => {
    const fields = `{ efficiency: ${e}, fillK: ${k0}, start: ${Number((t0 * 1e-6).toPrecision(6))}, tileFactors: [1, ${f1}, ${f2}], quantise: ${q} }`;
    return `  { gpu: '${gpu}', dtype: '${dtype}', source: '${source}', fit: ${fields} },\n`.replace(
      /^(.{119,})\n$/,
      () => `  {\n    gpu: '${gpu}',\n    dtype: '${dtype}',\n    source: '${source}',\n    fit: ${fields},\n  },\n`,
    );
  });
  put(
    'gemm-fits.ts',
    `${head}import type { GemmFitRow, SharedFit } from '../fit-types.ts';

export const gemmFits: readonly GemmFitRow[] = [
${fits.join('')}];

export const sharedFit: SharedFit = {
${Object.entries(shared)
  .map(([name, value]) => `  ${key(name)}: ${value},\n`)
  .join('')}};
`,
  );
  const curveLines = curves.map(
    ({ gpu, kind, ranks, alpha, perByte, perRoot }) => `  ${tuple([gpu, kind, ranks, alpha, perByte, perRoot])},\n`,
  );
  put(
    'curves.ts',
    `${head}import type { CurveRow } from '../fit-types.ts';

/** Device, collective, ranks, alpha (s), seconds per byte, seconds per root byte; source aiconfigurator NCCL tables. */
export const curveRows: readonly CurveRow[] = [
${curveLines.join('')}];
`,
  );
  return different;
}
