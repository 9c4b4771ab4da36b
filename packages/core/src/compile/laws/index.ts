/** @file The laws of this field that programs are held against (docs/sources.md, Laws), as functions of a job and a
 * layout. They know nothing of programs: what they say and what a program does are equal because tests hold it.
 */
export { bytesByLaw, type LawLine, type StageBytes } from './bytes.ts';
export {
  type ActivationBytes,
  activationsByLaw,
  frozenPerParameter,
  hostPerParameter,
  type StateBytes,
  stateByLaw,
  statePerParameter,
} from './memory.ts';
export {
  blocksByLaw,
  gathersByLaw,
  type Piece,
  piecesByLaw,
  type Sizes,
  sizesByLaw,
} from './sizes.ts';
