import { message } from '../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';

/** Returns the result of the sandbox test. A missing sandbox is a warning if the preset needs it. */
export function doctorSandboxFinding(found: SandboxAvailability, isNeeded: boolean): DoctorFinding {
  if (found.isAvailable)
    return createDoctorFinding(
      'ok',
      message(
        'Sandbox: working ({0}). Writing outside the workspace and connecting were blocked in a test.',
        found.program,
      ),
    );
  const { reason, steps } = found;
  const missing = steps
    ? message('Sandbox: not available. {0}. {1}', reason, steps)
    : message('Sandbox: not available. {0}.', reason);
  return createDoctorFinding(isNeeded ? 'warning' : 'fact', missing);
}
