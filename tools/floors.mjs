/** @file The floors of the house as data: which room stands where and what it may import. The dependency rules
 * (.dependency-cruiser.mjs) are made from this table at load; nothing else is allowed, and no cycles.
 * Why the rooms are cut this way: docs/decisions/0001-workspaces-and-floors.md. */

/** Rooms that every other room may import. */
export const everyone = ['units', 'errors'];

/** Rooms of packages/core/src, bottom to top. `imports` is the whole list besides {@link everyone}; `npm` names the
 * third-party packages that a room may import (none, but for the reader of files). */
export const coreRooms = [
  { room: 'units', floor: 0, imports: [] },
  { room: 'errors', floor: 0, imports: [] },
  { room: 'tensor', floor: 1, imports: [] },
  { room: 'mesh', floor: 1, imports: [] },
  { room: 'model', floor: 1, imports: [] },
  { room: 'cluster', floor: 1, imports: ['tensor'] },
  { room: 'frameworks', floor: 1, imports: ['mesh'] },
  { room: 'layout', floor: 1, imports: ['mesh', 'model', 'cluster', 'tensor', 'frameworks'] },
  { room: 'job', floor: 1, imports: ['mesh', 'model', 'cluster', 'tensor', 'frameworks', 'layout'] },
  { room: 'program', floor: 2, imports: ['tensor', 'mesh'] },
  { room: 'timeline', floor: 2, imports: ['tensor', 'mesh'] },
  { room: 'schedules', floor: 2, imports: ['program'] },
  { room: 'collectives', floor: 2, imports: ['program'] },
  {
    room: 'compile',
    floor: 2,
    imports: ['layout', 'job', 'program', 'schedules', 'collectives', 'model', 'mesh', 'tensor', 'frameworks'],
  },
  { room: 'memory', floor: 3, imports: ['program', 'tensor', 'mesh'] },
  { room: 'cost', floor: 3, imports: ['program', 'cluster', 'collectives', 'tensor', 'mesh'] },
  { room: 'sim', floor: 3, imports: ['program', 'cost', 'memory', 'timeline', 'tensor', 'mesh'] },
  {
    room: 'export',
    floor: 3,
    imports: ['layout', 'job', 'program', 'timeline', 'cluster', 'frameworks', 'tensor', 'mesh'],
  },
  {
    room: 'io',
    floor: 3,
    imports: ['model', 'cluster', 'layout', 'job', 'frameworks'],
    npm: ['zod', 'yaml', 'smol-toml'],
  },
  {
    room: 'plan',
    floor: 4,
    imports: [
      'job',
      'model',
      'cluster',
      'layout',
      'frameworks',
      'compile',
      'schedules',
      'program',
      'cost',
      'memory',
      'sim',
      'tensor',
      'mesh',
    ],
  },
];

const planAndBelow = coreRooms.map((each) => each.room);
for (const room of ['explain', 'whatif', 'check', 'calibrate', 'score']) {
  coreRooms.push({ room, floor: 5, imports: planAndBelow.filter((each) => !everyone.includes(each)) });
}

/** The other packages: which core rooms they may import, of which they may only use the types, and which packages of
 * this repository. `values: 'all'` means every room. */
export const packages = [
  { name: 'core', environment: 'anywhere', values: [], packages: [] },
  {
    name: 'runtime',
    environment: 'node',
    values: ['program', 'timeline', 'tensor', 'mesh', 'collectives'],
    packages: [],
  },
  {
    name: 'figures',
    environment: 'anywhere',
    values: coreRooms.filter((each) => each.floor <= 3).map((each) => each.room),
    types: 'all',
    packages: [],
  },
  { name: 'studio', environment: 'browser', values: 'all', packages: ['figures'] },
  { name: 'cli', environment: 'node', values: 'all', packages: ['figures', 'runtime', 'studio'] },
];

/** The floor of a room; a lower number is nearer to the ground. */
export const floorOf = (room) => coreRooms.find((each) => each.room === room)?.floor;

/** The rooms that `room` may import, those for everyone included. */
export function allowedImports(room) {
  const row = coreRooms.find((each) => each.room === room);
  if (!row) return [];
  return [...(row.floor === 0 ? [] : everyone), ...row.imports];
}
