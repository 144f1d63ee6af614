import type { Mention } from '../../protocol/content/mention.ts';
import { mentionTextOf } from '../../protocol/content/mentionText.ts';
import type { PromptSuggestion } from '../../protocol/panel/panelMessages.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { codePromptTemplates } from './codePrompts.ts';

/** State of a workspace, known without a model or a long search. */
export interface SuggestionWorkspaceState {
  errors: number;
  changes: number;
  front?: { path: string; todo?: number } | undefined;
  readme?: string | undefined;
  instructs: boolean;
  tested: boolean;
}

const most = 3;

export function promptSuggestionsForWorkspace({
  errors,
  changes,
  front,
  readme,
  instructs,
  tested,
}: SuggestionWorkspaceState): PromptSuggestion[] {
  const file = front && ({ kind: 'file', path: front.path } as const);
  const name = front?.path.slice(front.path.lastIndexOf('/') + 1) ?? '';
  const suggestionFor = (label: string, mention: Mention, text: (subject: string) => string): PromptSuggestion => ({
    label,
    text: text(mentionTextOf(mention)),
    mentions: [mention],
  });
  const todo = front?.todo;
  const all = [
    errors > 0 &&
      suggestionFor(
        errors === 1 ? t('Fix the error') : t('Fix the {0} errors', errors),
        { kind: 'problems' },
        codePromptTemplates.fix,
      ),
    changes > 0 &&
      suggestionFor(
        t('Review my changes in {0}', localizedCount(changes, 'file')),
        { kind: 'changes' },
        codePromptTemplates.reviewChanges,
      ),
    front &&
      todo !== undefined &&
      suggestionFor(
        t('Implement the rest of the plan in {0}', `${name}:${todo}`),
        { kind: 'lines', path: front.path, from: todo, to: todo },
        (subject) => `Do what is left to do at ${subject}.`,
      ),
    file && !tested && suggestionFor(t('Write the first test, for {0}', name), file, codePromptTemplates.writeTests),
    file && suggestionFor(t('Explain {0}', name), file, codePromptTemplates.explain),
    readme !== undefined &&
      suggestionFor(
        t('Explain this project'),
        { kind: 'file', path: readme },
        (subject) =>
          `Explain what this project is, how it is built and where one begins to read (see ${subject}). Change nothing.`,
      ),
    readme === undefined &&
      plain(
        t('Write a README'),
        'Look at this workspace and write a short README.md: what it is, how it is built and run.',
      ),
    !instructs &&
      plain(
        t('Write an AGENTS.md'),
        'Look at this workspace and write a short AGENTS.md: what an agent has to know to build it, to test it, and to write like the others here.',
      ),
    plain(
      t('Suggest improvements'),
      'Look through this workspace and name the three things most worth mending, with their places. Change nothing.',
    ),
  ];
  return all.filter((one) => one !== false && one !== undefined).slice(0, most);
}

const plain = (label: string, text: string): PromptSuggestion => ({ label, text, mentions: [] });
