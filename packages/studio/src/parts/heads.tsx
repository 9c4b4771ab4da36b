/** @file The head of a table. A name that begins with # heads a column of numbers; one in brackets is only read aloud. */
import type { VNode } from 'preact';

export const Heads = ({ columns }: { readonly columns: readonly string[] }): VNode => (
  <thead>
    <tr>
      {columns.map((column) => {
        const isNumber = /^#./.test(column);
        const name = isNumber ? column.slice(1) : column;
        const spoken = /^\((.*)\)$/.exec(name)?.[1];
        return (
          <th key={column} scope="col" class={isNumber ? 'number' : undefined}>
            {spoken === undefined ? name : <span class="hidden">{spoken}</span>}
          </th>
        );
      })}
    </tr>
  </thead>
);
