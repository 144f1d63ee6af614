export const approvalBasisMessages = {
  'reads-free': 'Auto-approved: reads.',
  'edits-free': 'Auto-approved: edits.',
  sandbox: 'Auto-approved: runs in the sandbox.',
  autopilot: 'Allowed because Autopilot is on.',
  'read-only-command': 'Auto-approved: read-only command.',
  'command-of-run': 'It stops a command of this run.',
  'of-run': "The run's own.",
} as const;
