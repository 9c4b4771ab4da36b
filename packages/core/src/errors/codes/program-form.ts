/** Codes of programs that come from outside, as text or JSON. */
export const programForm = {
  PROGRAM_SYNTAX: {
    meaning: 'A line of a program in text form is not what stands at its place.',
    fix: 'Write the line as the message says; docs/guide/step-program.md shows every kind of line.',
  },
  PROGRAM_NAME_TWICE: {
    meaning: 'Two things of one kind in a program have the same name.',
    fix: 'Rename one of the two.',
  },
  PROGRAM_OUT_OF_PLACE: {
    meaning: 'A call, view or exchange names a block, micro-batch or coordinate that is not there.',
    fix: 'Use a value in the range that the message gives.',
  },
  PROGRAM_CONTRADICTS: {
    meaning: 'A program in text form says what a call takes and gives, and its template says otherwise.',
    fix: 'Correct the call, or leave out what it takes and gives.',
  },
} as const;
