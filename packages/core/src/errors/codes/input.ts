/** Codes of files and values as such, before they mean anything. */
export const input = {
  FILE_NOT_FOUND: { meaning: 'A file that was named cannot be read.', fix: 'Check the path and the permissions.' },
  FILE_EXISTS: {
    meaning: 'A file that would be written is there already.',
    fix: 'Name another file, or overwrite it with --force.',
  },
  FILE_NOT_WRITTEN: {
    meaning: 'A file that was named cannot be written.',
    fix: 'Check the folder and the permissions.',
  },
  FILE_EMPTY: {
    meaning: 'The file holds no value: it is empty or has only comments.',
    fix: 'Write the required keys.',
  },
  NOT_TEXT: {
    meaning: 'The file is not text: it holds characters that no YAML or JSON file has.',
    fix: 'Name the text file that you meant, saved as UTF-8.',
  },
  SYNTAX: { meaning: 'The file is not valid YAML, JSON or TOML.', fix: 'Correct the marked place.' },
  DOCUMENTS_MANY: {
    meaning: 'The file holds several YAML documents where one is read.',
    fix: 'Keep one document, or split the file.',
  },
  KEY_UNKNOWN: {
    meaning: 'A key is not one of the keys that are read here.',
    fix: 'Use the suggested key or remove it.',
  },
  KEY_MISSING: { meaning: 'A required key is absent.', fix: 'Add it.' },
  KEY_TWICE: { meaning: 'The same key is given twice.', fix: 'Keep one of the two.' },
  VALUE_WRONG_TYPE: {
    meaning: 'A value has another type than the key takes.',
    fix: 'Give a value of the named type.',
  },
  VALUE_OUT_OF_RANGE: { meaning: 'A number is outside of what the key takes.', fix: 'Use a value in the range.' },
  VALUE_UNKNOWN: { meaning: 'A name is not one of the known names.', fix: 'Use one of the listed names.' },
  OPTIONS_CONTRADICT: {
    meaning: 'Two options cannot be meant together.',
    fix: 'Keep one of the two.',
  },
  VALUE_NOT_YET: {
    meaning: 'A value is part of the contract but nothing prices it yet.',
    fix: 'Use the named value until then.',
  },
  TOO_LARGE: {
    meaning: 'The file is larger or deeper than the limit, or grows beyond it when aliases are expanded.',
    fix: 'Give a smaller file without repeated aliases.',
  },
  PORT_NOT_FREE: {
    meaning: 'A port cannot be listened on.',
    fix: 'Name another port, or leave it out for a free one.',
  },
  STUDIO_NOT_BUILT: {
    meaning: 'The static files of the studio are not there.',
    fix: 'Build them with npm run build.',
  },
  KEYS_CONFLICT: {
    meaning: 'Two keys say the same thing in two ways.',
    fix: 'Keep one of them.',
  },
  OPTIONS_CONFLICT: {
    meaning: 'Two options of a command contradict each other.',
    fix: 'Leave out one of them.',
  },
} as const;
