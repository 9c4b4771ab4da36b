/** @file A machine measured as a cluster: costs fitted to samples, and the cluster file that a job names. */
export { type CostSample, fitCost } from './fit.ts';
export { type ExchangeSample, type KernelSample, type MachineSamples, machineText } from './machine-text.ts';
