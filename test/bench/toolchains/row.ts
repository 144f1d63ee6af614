/** An everyday run of a toolchain. Command lines of bash, in a new project. */
export interface ToolchainRow {
  run: string;
  /** Files of the project, by relative path. */
  files?: Readonly<Record<string, string>>;
  /** Programs without which the row cannot run; a test that is a shell line fails for the same reason. */
  needs?: readonly string[];
  /** Runs outside first, with the permissions of the user. */
  prepare?: string;
  first: string;
  /** Absent: the first one again. */
  second?: string;
  /** It needs what a sandbox withholds: a failure, or being recognized as such before it runs, is expected. */
  isOutside?: boolean;
  /** The second run changes installed packages, which are read-only. */
  isSecondOutside?: boolean;
  /** Folder in which the project is, instead of one for temporary files: below the home folder, with this name. */
  below?: string;
}
