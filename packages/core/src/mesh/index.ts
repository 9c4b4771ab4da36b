/** @file The mesh: named axes in order, and rank <-> coordinate <-> group as pure functions. */
import { assertInvariant } from '../errors/index.ts';

/** Axes of the dense grid. `expert` has degree 1 until a layout uses it. */
export type AxisName = 'tensor' | 'context' | 'expert' | 'data' | 'pipeline';

export interface Axis {
  readonly name: AxisName;
  readonly degree: number;
}

/** Ordered axes, fastest first: neighbours in rank differ in the first axis. */
export interface Mesh {
  readonly axes: readonly Axis[];
}

export type Coordinate = Readonly<Record<AxisName, number>>;

/** A mesh of the given degrees in the given order; axes that are left out have degree 1 and stand last. */
export function createMesh(
  degrees: { readonly [Axis in AxisName]?: number },
  order: readonly AxisName[] = defaultOrder,
): Mesh {
  const names = [...order, ...defaultOrder.filter((name) => !order.includes(name))];
  return Object.freeze({ axes: names.map((name) => ({ name, degree: degrees[name] ?? 1 })) });
}

/** The order that most frameworks share, fastest axis first. Source: Megatron-LM's default order string. */
export const defaultOrder: readonly AxisName[] = ['tensor', 'context', 'expert', 'data', 'pipeline'];

export const worldSize = (mesh: Mesh): number => mesh.axes.reduce((product, axis) => product * axis.degree, 1);

export const degreeOf = (mesh: Mesh, name: AxisName): number =>
  mesh.axes.find((axis) => axis.name === name)?.degree ?? 1;

/** Ranks between neighbours on an axis. */
export function strideOf(mesh: Mesh, name: AxisName): number {
  let stride = 1;
  for (const axis of mesh.axes) {
    if (axis.name === name) return stride;
    stride *= axis.degree;
  }
  return stride;
}

export function coordinateOf(mesh: Mesh, rank: number): Coordinate {
  assertInvariant(
    Number.isInteger(rank) && rank >= 0 && rank < worldSize(mesh),
    () => `rank ${rank} is not in the mesh`,
  );
  const coordinate: Record<AxisName, number> = { tensor: 0, context: 0, expert: 0, data: 0, pipeline: 0 };
  let rest = rank;
  for (const axis of mesh.axes) {
    coordinate[axis.name] = rest % axis.degree;
    rest = Math.floor(rest / axis.degree);
  }
  return coordinate;
}

export function rankOf(mesh: Mesh, coordinate: Partial<Coordinate>): number {
  let rank = 0;
  let stride = 1;
  for (const axis of mesh.axes) {
    rank += (coordinate[axis.name] ?? 0) * stride;
    stride *= axis.degree;
  }
  return rank;
}

/** Ranks that share all coordinates with `rank` but those on `axes`, in order of coordinate, fastest axis first. */
export function groupOf(mesh: Mesh, rank: number, axes: readonly AxisName[]): readonly number[] {
  let members = [rankOf(mesh, zeroed(coordinateOf(mesh, rank), axes))];
  for (const axis of mesh.axes) {
    if (!axes.includes(axis.name)) continue;
    const stride = strideOf(mesh, axis.name);
    members = Array.from({ length: axis.degree }, (_, index) =>
      members.map((member) => member + index * stride),
    ).flat();
  }
  return members;
}

/** All groups along `axes`, each once, in order of first member. */
export function groupsAlong(mesh: Mesh, axes: readonly AxisName[]): readonly (readonly number[])[] {
  const groups: (readonly number[])[] = [];
  for (let rank = 0; rank < worldSize(mesh); rank++) {
    const coordinate = coordinateOf(mesh, rank);
    if (axes.every((axis) => coordinate[axis] === 0)) groups.push(groupOf(mesh, rank, axes));
  }
  return groups;
}

const zeroed = (coordinate: Coordinate, axes: readonly AxisName[]): Coordinate => ({
  ...coordinate,
  ...Object.fromEntries(axes.map((axis) => [axis, 0])),
});
