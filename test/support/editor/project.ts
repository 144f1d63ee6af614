import path from 'node:path';

/** The project's own folder. */
export const projectRoot = path.resolve(import.meta.dirname, '../../..');

/** Everything that tests build, report or photograph goes here; never kept in git. */
export const testOut = path.join(projectRoot, 'test', 'out');

/** The extension under test, as the editor knows it. */
export const extensionId = 'towpath.towpath';
