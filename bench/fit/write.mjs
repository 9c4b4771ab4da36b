/** @file Writes the fitted constants and the hardware facts as TypeScript, in the formatter's own style. */
import { readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../../packages/core/src/cluster/generated/', import.meta.url);
const head = '// Written by bench/fit.mjs from data/. Do not edit: change the data and run it again.\n';
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);
const text = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value));
const tuple = (values) => `[${values.map(text).join(', ')}]`;

/** Writes the files, or with `check` compares and answers the names that differ. */
export function writeGenerated({ hardware, gemm, shared, curves }, check) {
  const files = {
    'names.ts': namesFile(hardware),
    'hardware.ts': hardwareFile(hardware, shared),
    'links.ts': linksFile(hardware, shared),
    'gemm-fits.ts': gemmFile(gemm, shared),
    'curves.ts': curvesFile(curves),
  };
  const different = [];
  for (const [name, content] of Object.entries(files)) {
    const file = new URL(name, folder);
    if (!check) writeFileSync(file, content);
    else if (readFileSync(file, 'utf8') !== content) different.push(name);
  }
  return different;
}

/** One exported table of facts; `fit:name` stands for a shared constant of the fit. */
function table(name, type, entries, shared) {
  const filled = (row) => row.map((value) => (String(value).startsWith('fit:') ? shared[value.slice(4)] : value));
  const body = Object.entries(entries).map(([entry, facts]) => {
    const lines = Object.entries(facts).map(([fact, row]) => `    ${key(fact)}: ${tuple(filled(row))},\n`);
    return `  ${key(entry)}: {\n${lines.join('')}  },\n`;
  });
  return `export const ${name}: ${type} = {\n${body.join('')}};\n`;
}

/** Unions of the keys of every table, one name a line where they do not fit one. */
function namesFile({ devices, switches, pcie, nics, hosts, sources }) {
  const union = (name, table) => {
    const keys = Object.keys(table).map(text);
    const line = `export type ${name} = ${keys.join(' | ')};`;
    return line.length <= 120 ? line : `export type ${name} =\n${keys.map((each) => `  | ${each}`).join('\n')};`;
  };
  const unions = {
    DeviceName: devices,
    SwitchName: switches,
    PcieName: pcie,
    NicName: nics,
    HostName: hosts,
    SourceKey: sources,
  };
  return `${head}${Object.entries(unions)
    .map(([name, table]) => `\n${union(name, table)}\n`)
    .join('')}`;
}

function hardwareFile(hardware, shared) {
  const sources = Object.entries(hardware.sources).map(([name, value]) => {
    const line = `  ${key(name)}: ${text(value)},\n`;
    return line.length <= 121 ? line : `  ${key(name)}:\n    ${text(value)},\n`;
  });
  return `${head}import type { DeviceName, DeviceRows, SourceKey } from '../fit-types.ts';

export const factsAsOf: string = ${text(hardware.asOf)};

export const factSources: Readonly<Record<SourceKey, string>> = {
${sources.join('')}};

${table('deviceRows', 'Readonly<Record<DeviceName, DeviceRows>>', hardware.devices, shared)}`;
}

const linksFile = (hardware, shared) =>
  `${head}import type { HostName, HostRows, NicTable, PcieTable, SwitchTable } from '../fit-types.ts';

${table('switchRows', 'SwitchTable', hardware.switches, shared)}
${table('pcieRows', 'PcieTable', hardware.pcie, shared)}
${table('nicRows', 'NicTable', hardware.nics, shared)}
${table('hostRows', 'Readonly<Record<HostName, HostRows>>', hardware.hosts, shared)}`;

function gemmFile(gemm, shared) {
  const fits = gemm.map(({ gpu, dtype, e, k0, t0, f1, f2, q, source }) => {
    const fields = `{ efficiency: ${e}, fillK: ${k0}, start: ${Number((t0 * 1e-6).toPrecision(6))}, tileFactors: [1, ${f1}, ${f2}], quantise: ${q} }`;
    return `  { gpu: '${gpu}', dtype: '${dtype}', source: '${source}', fit: ${fields} },\n`.replace(
      /^(.{119,})\n$/,
      () => `  {\n    gpu: '${gpu}',\n    dtype: '${dtype}',\n    source: '${source}',\n    fit: ${fields},\n  },\n`,
    );
  });
  return `${head}import type { GemmFitRow, SharedFit } from '../fit-types.ts';

export const gemmFits: readonly GemmFitRow[] = [
${fits.join('')}];

export const sharedFit: SharedFit = {
${Object.entries(shared)
  .map(([name, value]) => `  ${key(name)}: ${value},\n`)
  .join('')}};
`;
}

function curvesFile(curves) {
  const lines = curves.map(
    ({ gpu, kind, ranks, alpha, perByte, perRoot }) => `  ${tuple([gpu, kind, ranks, alpha, perByte, perRoot])},\n`,
  );
  return `${head}import type { CurveRow } from '../fit-types.ts';

/** Device, collective, ranks, alpha (s), seconds per byte, seconds per root byte; source aiconfigurator NCCL tables. */
export const curveRows: readonly CurveRow[] = [
${lines.join('')}];
`;
}
