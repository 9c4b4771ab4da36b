/** @file Operations in words, for messages. */
import type { ExpandedOperation } from '../program/index.ts';
import { listOf, type StepGraph } from './step-graph.ts';

/** `P0 line 4: gemm -> qkv[0,1]`. */
export function operationName(graph: StepGraph, at: number): string {
  const list = graph.lists[listOf(graph, at)];
  const expanded = list?.operations[at - (graph.base[listOf(graph, at)] as number)];
  if (list === undefined || expanded === undefined) return `operation ${at}`;
  return `${list.list.name} line ${expanded.item}: ${verbOf(expanded)}`;
}

function verbOf({ operation, reads, writes }: ExpandedOperation): string {
  const read = reads[0]?.instance.name;
  const write = writes[0]?.operand.instance.name;
  switch (operation.kind) {
    case 'compute':
      return `${operation.kernel} -> ${write ?? 'nothing'}`;
    case 'collective':
      return `${operation.collective} over ${operation.axis} of ${read ?? write ?? 'nothing'}`;
    default:
      return `${operation.kind} ${read ?? write ?? ''}`.trimEnd();
  }
}
