import assert from 'node:assert/strict';
import {
  type CommitRepository,
  chooseCommitRepository,
  type GitExtension,
  type RepositoryChoiceInputs,
} from '../../../src/extension/commit/git.ts';

type Uri = CommitRepository['rootUri'];
const uri = (path: string) => ({ fsPath: path, toString: () => `file://${path}` }) as Uri;

/** A window with such repositories, with nothing else of them than where they are. */
function windowWith(
  roots: string[],
  {
    enabled = true,
    state = 'initialized',
    ...more
  }: Partial<RepositoryChoiceInputs> & { enabled?: boolean; state?: string } = {},
): RepositoryChoiceInputs {
  const repositories = roots.map((root) => ({ rootUri: uri(root) }) as CommitRepository);
  const getRepository = ({ fsPath }: Uri) =>
    repositories.find(({ rootUri }) => fsPath.startsWith(`${rootUri.fsPath}/`)) ?? null;
  const getAPI = () => ({ state, repositories, getRepository, git: { path: '/usr/bin/git' } });
  return { isTrusted: true, git: { activate: async () => ({ enabled, getAPI }) as unknown as GitExtension }, ...more };
}

describe('which repository is meant', () => {
  const found: [what: string, window: RepositoryChoiceInputs, pressed: string | undefined, root: string][] = [
    ['that of the button', windowWith(['/a', '/b'], { inFront: uri('/a/x') }), '/b', '/b'],
    ['the only one', windowWith(['/a'], { inFront: uri('/elsewhere/x') }), undefined, '/a'],
    ['that of the editor in front', windowWith(['/a', '/b'], { inFront: uri('/b/x') }), undefined, '/b'],
  ];
  for (const [what, window, pressed, root] of found)
    it(what, async () => {
      const { repository, program } = await chooseCommitRepository(
        window,
        pressed ? { rootUri: uri(pressed) } : undefined,
      );
      assert.equal(repository.rootUri.fsPath, root);
      assert.equal(program, '/usr/bin/git');
    });

  const none: [what: string, window: RepositoryChoiceInputs, pressed: string | undefined, says: RegExp][] = [
    ['an untrusted workspace', windowWith(['/a'], { isTrusted: false }), undefined, /untrusted/],
    ['no Git extension', windowWith(['/a'], { git: undefined }), undefined, /extension is switched off/],
    ['Git switched off', windowWith(['/a'], { enabled: false }), undefined, /git\.enabled/],
    ['an editor that has just started', windowWith([], { state: 'uninitialized' }), undefined, /in a moment/],
    ['no repository', windowWith([]), undefined, /no Git repository/],
    ['several, and no editor', windowWith(['/a', '/b']), undefined, /several repositories/],
    ['several, and an editor elsewhere', windowWith(['/a', '/b'], { inFront: uri('/c/x') }), undefined, /several/],
    ['one that was closed', windowWith(['/a']), '/gone', /closed/],
  ];
  for (const [what, window, pressed, says] of none)
    it(`${what}: a sentence says so`, () =>
      assert.rejects(chooseCommitRepository(window, pressed ? { rootUri: uri(pressed) } : undefined), says));
});
