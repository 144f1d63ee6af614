/** What reads like words and is not told to people as it stands: in which file (or folder), which of it, and what it is. */
export const notForPeople: readonly { file: string; words: RegExp; why: string }[] = [
  // What models are told.
  { file: 'src/extension/commit/', words: /./, why: 'what the model that writes a commit message is told' },
  { file: 'src/extension/doctor/doctorChecks.ts', words: /^(Says back|The word$|Call the tool|Hello$)/, why: 'what a model is tried with' }, // biome-ignore format: a table
  {
    file: 'src/extension/models/testConnection.ts',
    words: /^Answer with the one word/,
    why: 'what a model is tried with',
  },
  { file: 'src/extension/mentions/codePrompts.ts', words: /./, why: 'what is said to the model by a command' },
  { file: 'src/extension/mentions/suggestions.ts', words: /^(Do|Explain|Look) /, why: 'what is said to the model by a button' }, // biome-ignore format: a table
  {
    file: 'src/extension/panel/codeActions.ts',
    words: /^Apply this code/,
    why: 'what is said to the model by a button',
  },
  { file: 'src/extension/runs/executePlan.ts', words: /^Do what /, why: 'what is said to the model by a button' },
  { file: 'src/extension/mentions/failure.ts', words: /^ {2}at /, why: 'what the model is told of a test' },
  { file: 'src/extension/mentions/terminals.ts', words: /ended with/, why: 'what the model is told of a terminal' },
  { file: 'src/extension/editor/problems.ts', words: /^line /, why: 'what the model is told of problems' },
  { file: 'src/extension/editor/', words: /[Tt]he (editor|file|notebook) |another extension that runs|^ after |^to be in an encoding$/, why: 'failures of tools, which are told to models' }, // biome-ignore format: a table
  // What is kept in English and told where it is shown.
  {
    file: 'src/extension/worker/jobWorker.ts',
    words: /^its thread ended/,
    why: 'a cause that is named as the machine has it',
  },
  // What is held to what models are told, or to records.
  {
    file: 'webview/cards/cardLine.ts',
    words: /^could not$/,
    why: 'a tense',
  },
  // What goes into logs.
  { file: 'src/extension/records/', words: /^(The record is damaged|, remote|Towpath \{\}, run)/, why: 'a log' },
  { file: 'src/extension/mcp/mcp.ts', words: /./, why: 'a log, and keys of what is shown' },
  { file: 'src/extension/worktrees/mergeWorktree.ts', words: /^Merge branch /, why: 'the message of a commit, as Git has it' }, // biome-ignore format: a table
  // Names, examples and pages' marks.
  { file: 'src/extension/doctor/doctorChecks.ts', words: /^Towpath \{\}, .*Node/, why: 'names and versions' },
  { file: 'src/extension/approvals/approvalsMenu.ts', words: /^(fs\.edit, |npm test$)/, why: 'an example of code' },
  {
    file: 'src/extension/view/chatPage.ts',
    words: /^((script|style|font|img)-src |trusted-types )/,
    why: 'the policy of a page',
  },
  { file: 'src/extension/records/insightsPage.ts', words: /^(default-src |\\nbody \{| data-sort=)/, why: 'the policy, style and marks of a page' }, // biome-ignore format: a table
  { file: 'webview/cards/cardLineView.ts', words: /^(--kept: |piece code$)/, why: 'a style, and a class' },
];

/** Files below the editor's part that tell people something by themselves, and nobody else. */
export const speaking: readonly string[] = [
  'src/check/estimate.ts',
  'src/check/taskResult.ts',
  'src/engine/run/undo.ts',
  'src/llm/local/engineInstall/engines.ts',
  'src/llm/local/ipc/deviceInfo.ts',
  'src/llm/local/modelFile/memoryFit.ts',
  'src/llm/local/modelFile/modelLibrary.ts',
  'src/llm/local/modelFile/recommendedModels.ts',
  'src/runs/branchFiles.ts',
  'src/workflows/plan/inputs.ts',
];
