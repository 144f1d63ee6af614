import { access, readFile } from 'node:fs/promises';
import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../core/commandSandbox.ts';

type Unavailable = Extract<SandboxAvailability, { isAvailable: false }>;

/** Facts of a Linux system that decide if user namespaces work. */
interface NamespaceFacts {
  /** `kernel.apparmor_restrict_unprivileged_userns` */
  isRestrictedByAppArmor: boolean;
  /** `user.max_user_namespaces` is 0, or `kernel.unprivileged_userns_clone` is 0. */
  isSwitchedOff: boolean;
  isContainer: boolean;
  package?: 'Flatpak' | 'Snap';
}

export async function readNamespaceFacts(env: NodeJS.ProcessEnv = process.env): Promise<NamespaceFacts> {
  const value = async (name: string) => (await readFile(`/proc/sys/${name}`, 'utf8').catch(() => '')).trim();
  const exists = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  const [appArmor, most, clone] = await Promise.all(
    [
      'kernel/apparmor_restrict_unprivileged_userns',
      'user/max_user_namespaces',
      'kernel/unprivileged_userns_clone',
    ].map(value),
  );
  const [docker, podman, flatpak] = await Promise.all(
    ['/.dockerenv', '/run/.containerenv', '/.flatpak-info'].map(exists),
  );
  return {
    isRestrictedByAppArmor: appArmor === '1',
    isSwitchedOff: most === '0' || clone === '0',
    isContainer: docker! || podman!,
    ...(flatpak ? { package: 'Flatpak' as const } : env.SNAP && { package: 'Snap' as const }),
  };
}

/**
 * Returns why the namespaces of a sandbox could not be created, and the steps to allow them.
 * @param error text of the programs, for an unknown reason
 */
export function namespaceRefusal(facts: NamespaceFacts, error: string): Unavailable {
  const because = (reason: LocalizedMessage, steps?: LocalizedMessage): Unavailable => ({
    isAvailable: false,
    reason,
    ...(steps && { steps }),
  });
  if (facts.package)
    return because(
      message('the editor is installed as a {0}, which does not allow user namespaces', facts.package),
      message('Install the editor from its .deb or .rpm package.'),
    );
  if (facts.isContainer)
    return because(
      message('this container does not allow user namespaces'),
      message('Start the container with a seccomp profile that allows them.'),
    );
  if (facts.isRestrictedByAppArmor)
    return because(
      message('this system does not allow user namespaces (AppArmor)'),
      message(
        'Allow them for unprivileged programs with: {0}',
        'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
      ),
    );
  if (facts.isSwitchedOff)
    return because(
      message('this system does not allow user namespaces'),
      message('Allow them with: {0}', 'sudo sysctl -w user.max_user_namespaces=10000'),
    );
  return because(message('a test failed ({0})', error));
}
