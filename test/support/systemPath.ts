/** Gives the tests of the surrounding `describe` the system's own programs and no version manager's, whatever this machine has. */
export function useSystemPath(): void {
  let before: string | undefined;
  beforeEach(() => {
    before = process.env.PATH;
    process.env.PATH = '/usr/bin:/bin';
  });
  afterEach(() => {
    process.env.PATH = before;
  });
}
