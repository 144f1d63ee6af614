let shown: Notification | undefined;

/**
 * Shows a notification of the system in place of the previous one, if the editor permits it; never asks for the permission. Null closes it.
 * Desktop editors permit it to every page, browsers after the user has allowed it for the site.
 */
export function showSystemNotification(text: string | null): void {
  shown?.close();
  const isPermitted = globalThis.Notification?.permission === 'granted';
  shown = isPermitted && text !== null ? new Notification('Towpath', { body: text }) : undefined;
}
