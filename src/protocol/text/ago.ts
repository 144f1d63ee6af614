import { currentLocale, t } from './l10n.ts';

export function formatAge(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return t('now');
  if (minutes < 60) return t('{0} min', minutes);
  if (minutes < 24 * 60) return t('{0} h', Math.floor(minutes / 60));
  if (minutes < 7 * 24 * 60) return t('{0} d', Math.floor(minutes / (24 * 60)));
  return new Date(at).toLocaleDateString(currentLocale(), { day: 'numeric', month: 'short', year: 'numeric' });
}
