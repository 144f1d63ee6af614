import { toEnglishText } from '../../protocol/text/l10n.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import type { ApprovalRequestPlan, ToolCallPlan } from '../core/tool.ts';

/** Returns a plan with the texts that an approval shows. */
export function localizePlan(
  { what, where, why, details, loss, findLoss: _, outsideReason: __, ...plan }: ToolCallPlan,
  localizer: Localizer,
): ApprovalRequestPlan {
  const texts = { what: localizer(what), where: localizer(where) };
  const english = { what: toEnglishText(what), where: toEnglishText(where) };
  const isSame = texts.what === english.what && texts.where === english.where;
  return {
    ...plan,
    ...texts,
    why: localizer(why),
    ...(details !== undefined && { details: localizer(details) }),
    ...(loss && { loss: { ...loss, text: localizer(loss.text) } }),
    ...(!isSame && { english }),
  };
}
