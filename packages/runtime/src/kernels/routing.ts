/** @file How a token chooses its experts and how much each counts. Scores are the logits themselves with a softmax over
 * the chosen (Mixtral's way), parts of a softmax over all, or sigmoids; a correction moves the choice and not the
 * weights; experts may stand in groups of which the best take part (DeepSeek's way).
 */
import { rowsOf, sizeAt, type Tensor } from './tensor.ts';

export interface Routing {
  readonly scoring: 'softmax-chosen' | 'softmax-all' | 'sigmoid';
  /** The weights of the chosen are divided by their sum. */
  readonly normalized: boolean;
  /** Factor on the weights. */
  readonly factor: number;
  /** Groups of neighbouring experts, those that take part, and the best experts of a group that say how good it is. */
  readonly groups: number;
  readonly groupsChosen: number;
  readonly groupTop: number;
}

/** A softmax over the chosen, from all experts. */
export const plainRouting: Routing = {
  scoring: 'softmax-chosen',
  normalized: false,
  factor: 1,
  groups: 1,
  groupsChosen: 1,
  groupTop: 1,
};

/** The T best experts of each token, first the best, ties to the lower index, and their weights. */
export function topk(
  rl_RE: Tensor,
  c_E: Tensor | undefined,
  writes: { rw_RT: Tensor; ri_RT: Tensor },
  routing: Routing,
): void {
  const R = rowsOf(rl_RE);
  const E = sizeAt(rl_RE, -1);
  const T = sizeAt(writes.rw_RT, -1);
  const [rw, ri] = [writes.rw_RT.data, writes.ri_RT.data];
  for (let r = 0; r < R; r++) {
    const scores = scoresOf(rl_RE, r, E, routing.scoring);
    const wanted = scores.map((score, e) => score + (c_E ? c_E.data[e]! : 0));
    const chosen = best(inGroups(wanted, routing), T);
    const weights = weightsOf(
      chosen.map((e) => scores[e]!),
      routing,
    );
    for (let t = 0; t < T; t++) {
      rw[r * T + t] = weights[t]!;
      ri[r * T + t] = chosen[t]!;
    }
  }
}

function scoresOf(rl_RE: Tensor, r: number, E: number, scoring: Routing['scoring']): readonly number[] {
  const logits = Array.from({ length: E }, (_, e) => rl_RE.data[r * E + e]!);
  switch (scoring) {
    case 'softmax-chosen':
      return logits;
    case 'softmax-all':
      return softmax(logits);
    case 'sigmoid':
      return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  }
}

function softmax(logits: readonly number[]): readonly number[] {
  const top = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - top));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Places of the `count` largest values. */
const best = (values: readonly number[], count: number): readonly number[] =>
  values
    .map((_, index) => index)
    .sort((a, b) => values[b]! - values[a]! || a - b)
    .slice(0, count);

/** What is wanted in the best groups; nothing else is chosen. */
function inGroups(wanted: readonly number[], { groups, groupsChosen, groupTop }: Routing): readonly number[] {
  if (groupsChosen >= groups) return wanted;
  const size = wanted.length / groups;
  const goodness = Array.from({ length: groups }, (_, group) => {
    const own = wanted.slice(group * size, (group + 1) * size);
    return best(own, groupTop).reduce((sum, place) => sum + own[place]!, 0);
  });
  const open = new Set(best(goodness, groupsChosen));
  return wanted.map((want, e) => (open.has(Math.floor(e / size)) ? want : -Infinity));
}

function weightsOf(scores: readonly number[], { scoring, normalized, factor }: Routing): readonly number[] {
  if (scoring === 'softmax-chosen') return softmax(scores).map((weight) => factor * weight);
  const sum = normalized ? scores.reduce((total, score) => total + score, 0) : 1;
  return scores.map((score) => (factor * score) / sum);
}

/** Gradient of the logits; experts that were not chosen move the weights through a softmax over all only. */
export function topkDx(
  reads: { drw_RT: Tensor; rw_RT: Tensor; ri_RT: Tensor; rl_RE: Tensor | undefined },
  drl_RE: Tensor,
  routing: Routing,
): void {
  const R = rowsOf(drl_RE);
  const E = sizeAt(drl_RE, -1);
  const T = sizeAt(reads.rw_RT, -1);
  const [drw, ri] = [reads.drw_RT.data, reads.ri_RT.data];
  const drl = drl_RE.data;
  drl.fill(0);
  for (let r = 0; r < R; r++) {
    const slopes = Array.from({ length: T }, (_, t) => drw[r * T + t]!);
    const chosen = Array.from({ length: T }, (_, t) => ri[r * T + t]!);
    if (reads.rl_RE === undefined) {
      const parts = chosen.map((_, t) => reads.rw_RT.data[r * T + t]! / routing.factor);
      const mean = parts.reduce((sum, part, t) => sum + routing.factor * slopes[t]! * part, 0);
      chosen.forEach((e, t) => {
        drl[r * E + e] = parts[t]! * (routing.factor * slopes[t]! - mean);
      });
      continue;
    }
    const scores = scoresOf(reads.rl_RE, r, E, routing.scoring);
    const gradient = scoreSlopes(
      slopes,
      chosen.map((e) => scores[e]!),
      routing,
    );
    throughScores(gradient, chosen, scores, routing.scoring, (e, slope) => {
      drl[r * E + e] = slope;
    });
  }
}

/** Gradient of the scores of the chosen. */
function scoreSlopes(slopes: readonly number[], scores: readonly number[], { normalized, factor }: Routing) {
  if (!normalized) return slopes.map((slope) => factor * slope);
  const sum = scores.reduce((total, score) => total + score, 0);
  const mean = slopes.reduce((total, slope, t) => total + slope * scores[t]!, 0) / sum;
  return slopes.map((slope) => (factor * (slope - mean)) / sum);
}

function throughScores(
  gradient: readonly number[],
  chosen: readonly number[],
  scores: readonly number[],
  scoring: Routing['scoring'],
  write: (expert: number, slope: number) => void,
): void {
  if (scoring === 'sigmoid') {
    chosen.forEach((e, t) => write(e, gradient[t]! * scores[e]! * (1 - scores[e]!)));
    return;
  }
  const mean = chosen.reduce((sum, e, t) => sum + gradient[t]! * scores[e]!, 0);
  scores.forEach((score, e) => write(e, -score * mean));
  chosen.forEach((e, t) => write(e, scores[e]! * (gradient[t]! - mean)));
}

/** x times the weight of its token's only expert. */
export function weigh(x_RH: Tensor, rw_R: Tensor, xw_RH: Tensor): void {
  const R = rowsOf(x_RH);
  const H = sizeAt(x_RH, -1);
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) xw_RH.data[r * H + h] = x_RH.data[r * H + h]! * rw_R.data[r]!;
  }
}

export function weighDx(
  reads: { dxw_RH: Tensor; x_RH: Tensor; rw_R: Tensor },
  writes: { dx_RH: Tensor; drw_R: Tensor },
): void {
  const R = rowsOf(reads.x_RH);
  const H = sizeAt(reads.x_RH, -1);
  const [dxw, x, rw] = [reads.dxw_RH.data, reads.x_RH.data, reads.rw_R.data];
  for (let r = 0; r < R; r++) {
    let product = 0;
    for (let h = 0; h < H; h++) {
      product += dxw[r * H + h]! * x[r * H + h]!;
      writes.dx_RH.data[r * H + h] = dxw[r * H + h]! * rw[r]!;
    }
    writes.drw_R.data[r] = product;
  }
}

/** c = so times the sigmoid of the token's gate. */
export function sigmoidGate(so_RH: Tensor, sl_R: Tensor, c_RH: Tensor): void {
  const R = rowsOf(so_RH);
  const H = sizeAt(so_RH, -1);
  for (let r = 0; r < R; r++) {
    const gate = 1 / (1 + Math.exp(-sl_R.data[r]!));
    for (let h = 0; h < H; h++) c_RH.data[r * H + h] = gate * so_RH.data[r * H + h]!;
  }
}

export function sigmoidGateDx(
  reads: { dy_RH: Tensor; so_RH: Tensor; sl_R: Tensor },
  writes: { dso_RH: Tensor; dsl_R: Tensor },
): void {
  const R = rowsOf(reads.dy_RH);
  const H = sizeAt(reads.dy_RH, -1);
  const [dy, so, sl] = [reads.dy_RH.data, reads.so_RH.data, reads.sl_R.data];
  for (let r = 0; r < R; r++) {
    const gate = 1 / (1 + Math.exp(-sl[r]!));
    let product = 0;
    for (let h = 0; h < H; h++) {
      product += dy[r * H + h]! * so[r * H + h]!;
      writes.dso_RH.data[r * H + h] = gate * dy[r * H + h]!;
    }
    writes.dsl_R.data[r] = product * gate * (1 - gate);
  }
}
