/** @file What is wrong between adapters and a model. */
import { type Issue, issue } from '../errors/index.ts';
import { ALL_LINEAR, adaptedParts, isOf, linears } from './adapters.ts';
import { hfNames } from './names/index.ts';
import { layerParametersOf } from './parameters/index.ts';
import type { AdapterSpec, LayerSpec, ModelSpec } from './types.ts';

/** Targets that a layer's linear layers answer to, by the last word of their names. */
function targetsOf(model: ModelSpec, layer: LayerSpec, index: number): readonly string[] {
  const isDense = layer.ffn.kind === 'dense';
  return layerParametersOf({ ...model, layers: [layer] }, 0)
    .filter(({ name }) => linears.includes(name) && (isDense || !name.startsWith('fc')))
    .flatMap(({ tensors }) =>
      tensors.map(
        ({ name }) =>
          name
            .replace(/\.weight$/, '')
            .split('.')
            .at(-1) ?? `${index}`,
      ),
    );
}

/** All that is wrong between adapters and a model, at `path` of the job. */
export function checkAdapters(model: ModelSpec, adapters: AdapterSpec, path: string): readonly Issue[] {
  const layers = [...new Set(model.layers)];
  const issues: Issue[] = [];
  const refuse = (what: string, hint: string): void => {
    issues.push(issue('ADAPTER_NOT_MODELLED', `${path}.targets`, what, hint));
  };
  if (layers.some(({ attention }) => attention.kind === 'latent')) {
    refuse(`adapters beside latent attention are not modelled, and ${model.name} has it.`, 'Use sft.');
    return issues;
  }
  const known = [...new Set(layers.flatMap((layer, index) => targetsOf(model, layer, index)))];
  const useful = `Use ${[...known, ...(hasExperts(model) ? [] : [ALL_LINEAR])].join(', ')}.`;
  const { experts } = hfNames[model.kind];
  const ofExperts = new Set([...(experts?.in ?? []), ...(experts ? [experts.down, experts.router] : [])]);
  for (const target of adapters.targets) {
    const onExperts = hasExperts(model) && (target === ALL_LINEAR || ofExperts.has(target.split('.').at(-1) ?? target));
    if (onExperts) {
      refuse(`adapters on experts and their router are not modelled, and ${target} of ${model.name} has them.`, useful);
    } else if (!known.some((name) => target === ALL_LINEAR || isOf(`layer.${name}`, target.split('.').at(-1) ?? ''))) {
      const message = `${target} names no linear layer of the blocks of ${model.name}.`;
      issues.push(issue('ADAPTER_TARGET_UNKNOWN', `${path}.targets`, message, useful, { targets: known }));
    }
  }
  if (issues.length > 0) return issues;
  const bare = model.layers.findIndex(
    (_, index) => !layerParametersOf(model, index).some((each) => adaptedParts(each, adapters) !== undefined),
  );
  if (bare >= 0)
    refuse(`layer ${bare} has none of ${adapters.targets.join(', ')}: every layer needs an adapter.`, useful);
  return issues;
}

const hasExperts = ({ layers }: ModelSpec): boolean => layers.some(({ ffn }) => ffn.kind === 'moe');
