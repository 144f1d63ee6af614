import type { LogOutputChannel } from 'vscode';
import type { Notice } from '../../protocol/panel/panelMessages.ts';

export type NoticeLog = Pick<LogOutputChannel, 'info' | 'warn' | 'error'>;

export function logNotice(log: NoticeLog, { level, text }: Notice): void {
  log[level === 'warning' ? 'warn' : level](text);
}
