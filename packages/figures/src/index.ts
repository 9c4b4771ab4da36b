/** @file Figures: pure functions from data to SVG. Each is a Preact component; `svgText` writes one as a file. */

export { type AxisFacts, type ExchangeFacts, type GpuFacts, type StepFacts, stepFacts } from './exchanges/facts.ts';
export { Exchanges, type ExchangesProps } from './exchanges/figure.tsx';
export * from './palette/index.ts';
export { svgText } from './svg/frame.tsx';
