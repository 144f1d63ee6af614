/** A path whose content a command must not read. */
export interface HiddenPath {
  /** Real absolute path of something that exists. */
  path: string;
  /**
   * `folder` and `file` deny access. `settings` reads as an empty file, because programs such as Git refuse to start if their settings
   * cannot be read.
   */
  kind: 'file' | 'folder' | 'settings';
}

/** A path outside of the sandbox and the path at which commands see it. */
export interface SandboxBind {
  source: string;
  target: string;
}

/**
 * Access of one command to the machine. Paths are absolute, normalized and real: a mount does not follow links. Everything without a
 * mention is visible and read-only.
 */
export interface SandboxPolicy {
  /** User and group that the command runs as: those of the editor. */
  uid: number;
  gid: number;
  /**
   * Open folders: `shown` is the real path inside, `merged` the mounted overlay outside, which is hidden. The caller hides the folder of its
   * layers.
   */
  overlays: readonly { shown: string; merged: string }[];
  /** Writable binds: private caches and folders that the user has allowed. */
  writable: readonly SandboxBind[];
  /** Read-only binds, over the overlays (`node_modules`) or in `/run`, which is otherwise empty (`/run/current-system`). */
  readOnly: readonly SandboxBind[];
  /** Paths that must not be readable, in the open folders too. A missing path would be created: leave it out. */
  hidden: readonly HiddenPath[];
  /** Files and folders of the kernel in `/proc` that stay read-only. */
  kernelFiles: readonly string[];
  /** Private folder of the run, shown at each of `tmpTargets`. */
  tmp: string;
  /** Real paths of the folders for temporary files, such as `/tmp` and `/var/tmp`. */
  tmpTargets: readonly string[];
  /** Number of the inherited file descriptor with the seccomp filter; undefined without a filter. */
  seccompDescriptor?: number;
  /** Number of the inherited file descriptor that receives the process id of the first process; undefined for none. */
  informationDescriptor?: number;
}
