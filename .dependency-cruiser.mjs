/** @file Dependency rules, made from the table of floors (tools/floors.mjs). A rule is never written here by hand for
 * one room. Tests and fixtures may look anywhere: they hold rooms against each other. */
import { allowedImports, coreRooms, packages } from './tools/floors.mjs';

const notShipped = '\\.(test|test-d|fixture)\\.tsx?$';
const anyOf = (names) => (names.length === 0 ? '(?!)' : `(${names.join('|')})`);
const shipped = (path) => ({ path, pathNot: notShipped });
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const roomRules = coreRooms.flatMap(({ room, npm = [] }) => [
  rule(
    `core-${room}-imports`,
    `core/${room} may import ${allowedImports(room).join(', ') || 'nothing'}`,
    shipped(`^packages/core/src/${room}/`),
    { path: '^packages/', pathNot: `^packages/core/src/${anyOf([room, ...allowedImports(room)])}/` },
  ),
  rule(
    `core-${room}-npm`,
    `core/${room} may import ${npm.join(', ') || 'no'} packages from npm`,
    shipped(`^packages/core/src/${room}/`),
    { dependencyTypes: ['npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: `node_modules/${anyOf(npm)}/` },
  ),
]);

const packageRules = packages
  .filter(({ name }) => name !== 'core')
  .flatMap(({ name, values, types, packages: siblings }) => {
    const self = `packages/${anyOf([name, ...siblings])}/`;
    const rooms = values === 'all' ? coreRooms.map((each) => each.room) : ['units', 'errors', ...values];
    return [
      rule(
        `${name}-imports`,
        `packages/${name} may import ${values === 'all' ? 'every room' : rooms.join(', ')} of core`,
        shipped(`^packages/${name}/src/`),
        {
          path: '^packages/',
          pathNot: `^(${self}|packages/core/src/${anyOf(rooms)}/)`,
          ...(types === 'all' && { dependencyTypesNot: ['type-only'] }),
        },
      ),
    ];
  });

export default {
  forbidden: [
    rule(
      'no-cycles',
      'files may not import each other in a circle (types within a room may)',
      {},
      {
        circular: true,
        viaOnly: { dependencyTypesNot: ['type-only'] },
      },
    ),
    rule('unknown-room', 'a folder of core must be a room of tools/floors.mjs', shipped('^packages/'), {
      path: '^packages/core/src/',
      pathNot: `^packages/core/src/${anyOf(coreRooms.map((each) => each.room))}/`,
    }),
    rule(
      'from-unknown-room',
      'a folder of core must be a room of tools/floors.mjs',
      {
        path: '^packages/core/src/',
        pathNot: `(^packages/core/src/${anyOf(coreRooms.map((each) => each.room))}/)|${notShipped}`,
      },
      {},
    ),
    rule(
      'rooms-by-the-door',
      'another room is entered by its index.ts',
      { path: '^packages/([^/]+)/src/([^/]+)/', pathNot: notShipped },
      { path: '^packages/core/src/[^/]+/', pathNot: '(^packages/$1/src/$2/)|/index\\.ts$' },
    ),
    rule('core-anywhere', 'core and figures run in a browser too', shipped('^packages/(core|figures)/src/'), {
      dependencyTypes: ['core'],
    }),
    rule('no-tests-shipped', 'shipped code may not import tests or fixtures', shipped('^packages/[^/]+/src/'), {
      path: notShipped,
    }),
    rule('not-resolvable', 'every import must lead somewhere', {}, { couldNotResolve: true }),
    rule('declared', 'npm packages must be dependencies of their package', shipped('^packages/[^/]+/src/'), {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
    }),
    ...roomRules,
    ...packageRules,
  ],
  options: {
    doNotFollow: { path: '(node_modules|/dist/)' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    tsConfig: { fileName: 'tsconfig.tests.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'types', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
};
