/** @file The mesh: named axes in order, and rank <-> coordinate <-> group as pure functions. One set of ranks may be
 * factorised twice: by the dense grid and, where experts lie over ranks of their own, by the expert grid. An axis stands
 * in one grid only (pipeline is the same in both), so its name says which grid a group is of.
 */
import { assertInvariant } from '../errors/index.ts';

/** Axes of the dense grid; `expert` has degree 1 in it and is an axis of the expert grid. */
export type DenseAxis = 'tensor' | 'context' | 'expert' | 'data' | 'pipeline';
/** Axes of the expert grid beside pipeline: inside an expert, over the experts, over replicas of the same experts. */
export type ExpertAxis = 'expertTensor' | 'expert' | 'expertData';
export type AxisName = DenseAxis | ExpertAxis;

export interface Axis {
  readonly name: AxisName;
  readonly degree: number;
}

/** Ordered axes, fastest first: neighbours in rank differ in the first axis. */
export interface Mesh {
  /** The dense grid. */
  readonly axes: readonly Axis[];
  /** The expert grid of the same ranks; absent where experts lie as the dense grid does. */
  readonly experts?: readonly Axis[];
}

export type Coordinate = Readonly<Record<AxisName, number>>;

/** Degrees of both grids; those that are left out are 1. */
export type MeshDegrees = { readonly [Name in AxisName]?: number };

const expertAxes: readonly AxisName[] = ['expertTensor', 'expert', 'expertData'];

/** A mesh of the given degrees in the given order; axes that are left out have degree 1 and stand last.
 *
 * With `expertData` given there is an expert grid: its axes stand where the order has tensor, expert and data. Its degrees
 * multiply to the ranks, and its pipeline has the dense grid's stride (rules of layouts ask for both).
 * Source: Megatron-LM, megatron/core/parallel_state.py: two rank generators, the expert one with context 1.
 */
export function createMesh(degrees: MeshDegrees, order: readonly DenseAxis[] = defaultOrder): Mesh {
  const names = [...order, ...defaultOrder.filter((name) => !order.includes(name))];
  const degree = (name: AxisName): number => degrees[name] ?? 1;
  const hasExperts = degrees.expertData !== undefined;
  const axes = names.map((name) => ({ name, degree: name === 'expert' && hasExperts ? 1 : degree(name) }));
  if (!hasExperts) return Object.freeze({ axes });
  const experts = names.flatMap((name) => (name === 'context' ? [] : [expertAxisOf(name)]));
  return Object.freeze({ axes, experts: experts.map((name) => ({ name, degree: degree(name) })) });
}

/** The axis of the expert grid that stands where the order names `name`. */
const expertAxisOf = (name: Exclude<DenseAxis, 'context'>): AxisName =>
  name === 'tensor' ? 'expertTensor' : name === 'data' ? 'expertData' : name;

/** The order that most frameworks share, fastest axis first. Source: Megatron-LM's default order string. */
export const defaultOrder: readonly DenseAxis[] = ['tensor', 'context', 'expert', 'data', 'pipeline'];

export const worldSize = (mesh: Mesh): number => mesh.axes.reduce((product, axis) => product * axis.degree, 1);

/** The axes of the grid that an axis belongs to. */
export const gridOf = ({ axes, experts }: Mesh, name: AxisName): readonly Axis[] =>
  experts !== undefined && expertAxes.includes(name) ? experts : axes;

/** Every axis of both grids once, those of the dense grid first. */
export function allAxes({ axes, experts }: Mesh): readonly Axis[] {
  if (experts === undefined) return axes;
  return [...axes.filter(({ name }) => name !== 'expert'), ...experts.filter(({ name }) => expertAxes.includes(name))];
}

export function degreeOf(mesh: Mesh, name: AxisName): number {
  for (const axis of gridOf(mesh, name)) if (axis.name === name) return axis.degree;
  return 1;
}

/** Ranks between neighbours on an axis. */
export const strideOf = (mesh: Mesh, name: AxisName): number => strideIn(gridOf(mesh, name), name);

function strideIn(grid: readonly Axis[], name: AxisName): number {
  let stride = 1;
  for (const axis of grid) {
    if (axis.name === name) return stride;
    stride *= axis.degree;
  }
  return stride;
}

/** The place of a rank on every axis of both grids. */
export function coordinateOf(mesh: Mesh, rank: number): Coordinate {
  assertInvariant(
    Number.isInteger(rank) && rank >= 0 && rank < worldSize(mesh),
    () => `rank ${rank} is not in the mesh`,
  );
  const coordinate: Record<AxisName, number> = { ...origin };
  placeIn(mesh.axes, rank, coordinate);
  if (mesh.experts) placeIn(mesh.experts, rank, coordinate);
  return coordinate;
}

const origin: Coordinate = {
  tensor: 0,
  context: 0,
  expert: 0,
  data: 0,
  pipeline: 0,
  expertTensor: 0,
  expertData: 0,
};

function placeIn(grid: readonly Axis[], rank: number, coordinate: Record<AxisName, number>): void {
  let rest = rank;
  for (const axis of grid) {
    coordinate[axis.name] = rest % axis.degree;
    rest = Math.floor(rest / axis.degree);
  }
}

/** The rank at a place of the dense grid; places of the expert grid are not looked at. */
export const rankOf = (mesh: Mesh, coordinate: Partial<Coordinate>): number => rankIn(mesh.axes, coordinate);

/** The rank at a place of the expert grid; without one, of the dense grid. */
export const expertRankOf = (mesh: Mesh, coordinate: Partial<Coordinate>): number =>
  rankIn(mesh.experts ?? mesh.axes, coordinate);

function rankIn(grid: readonly Axis[], coordinate: Partial<Coordinate>): number {
  let rank = 0;
  let stride = 1;
  for (const axis of grid) {
    // The dense grid's expert axis has one place, whatever the expert grid's says.
    if (axis.degree > 1) rank += (coordinate[axis.name] ?? 0) * stride;
    stride *= axis.degree;
  }
  return rank;
}

/** Ranks that share all coordinates of a grid with `rank` but those on `axes`, in order of coordinate, fastest axis
 * first. All axes are of one grid.
 */
export function groupOf(mesh: Mesh, rank: number, axes: readonly AxisName[]): readonly number[] {
  const grid = gridOfAll(mesh, axes);
  const coordinate: Record<AxisName, number> = { ...origin };
  placeIn(grid, rank, coordinate);
  for (const axis of axes) coordinate[axis] = 0;
  let members = [rankIn(grid, coordinate)];
  for (const axis of grid) {
    if (!axes.includes(axis.name)) continue;
    const stride = strideIn(grid, axis.name);
    members = Array.from({ length: axis.degree }, (_, index) =>
      members.map((member) => member + index * stride),
    ).flat();
  }
  return members;
}

function gridOfAll(mesh: Mesh, axes: readonly AxisName[]): readonly Axis[] {
  const [grid = mesh.axes] = axes.map((axis) => gridOf(mesh, axis)).filter((each) => each !== mesh.axes);
  assertInvariant(
    axes.every((axis) => axis === 'pipeline' || gridOf(mesh, axis) === grid),
    () => `the axes ${axes.join(' and ')} are of two grids`,
  );
  return grid;
}

/** All groups along `axes`, each once, in order of first member. */
export function groupsAlong(mesh: Mesh, axes: readonly AxisName[]): readonly (readonly number[])[] {
  const groups: (readonly number[])[] = [];
  const seen = new Uint8Array(worldSize(mesh));
  for (let rank = 0; rank < seen.length; rank++) {
    if (seen[rank] === 1) continue;
    const group = groupOf(mesh, rank, axes);
    for (const member of group) seen[member] = 1;
    groups.push(group);
  }
  return groups;
}

export { commonDivisors, divisorsOf, listed, multiplesAround, nearest } from './divisors.ts';
