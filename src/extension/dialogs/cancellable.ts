import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { disableCommandLinks } from './approvalText.ts';
import { isPanelInView, showPanelButtonNotice } from './notify.ts';

type Work<Value> = (signal: AbortSignal, progress: (text: string, percent?: number) => void) => Promise<Value>;

export function withCancellation<Value>(title: string, work: Work<Value>, stop = t('Cancel')): Thenable<Value> {
  return isPanelInView() ? inPanel(title, work, stop) : inNotification(title, work);
}

function inNotification<Value>(title: string, work: Work<Value>): Thenable<Value> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: disableCommandLinks(title),
    cancellable: true,
  };
  return vscode.window.withProgress(options, (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    return work(stop.signal, (message, increment) =>
      progress.report({ message: disableCommandLinks(message), increment }),
    );
  });
}

function inPanel<Value>(title: string, work: Work<Value>, stop: string): Thenable<Value> {
  const stopped = new AbortController();
  const { pressed, end } = showPanelButtonNotice('info', title, [stop]);
  void pressed.then((button) => button === stop && stopped.abort());
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, (progress) =>
    work(stopped.signal, (message) => progress.report({ message: disableCommandLinks(message) })).finally(end),
  );
}

interface NotificationCommand {
  label: string;
  run(): PromiseLike<void>;
}

let commandCount = 0;

/** Shows that work waits, with *Cancel* and a command of its own, which may be used several times. */
export function withCancellationAndCommand<Value>(
  title: string,
  command: NotificationCommand,
  work: (signal: AbortSignal) => Promise<Value>,
): Thenable<Value> {
  return isPanelInView() ? commandInPanel(title, command, work) : commandInNotification(title, command, work);
}

/** A notification with progress has one button, *Cancel*; the command is a link that lives as long as the notification. */
function commandInNotification<Value>(
  title: string,
  { label, run }: NotificationCommand,
  work: (signal: AbortSignal) => Promise<Value>,
): Thenable<Value> {
  commandCount += 1;
  const id = `towpath.notification.${commandCount}`;
  const registered = vscode.commands.registerCommand(id, run);
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: disableCommandLinks(title.replace(/…$/, '')), // a colon and the link follow
    cancellable: true,
  };
  return vscode.window.withProgress(options, (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    progress.report({ message: `[${label}](command:${id})` });
    return work(stop.signal).finally(() => registered.dispose());
  });
}

async function commandInPanel<Value>(
  title: string,
  { label, run }: NotificationCommand,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController();
  const cancel = t('Cancel');
  let isOver = false;
  let end = () => {};
  const show = () => {
    const notice = showPanelButtonNotice('info', title, [cancel, label]);
    end = notice.end;
    void notice.pressed.then(async (button) => {
      if (button === cancel) stop.abort();
      if (button !== label) return;
      await run();
      if (!isOver) show();
    });
  };
  show();
  return work(stop.signal).finally(() => {
    isOver = true;
    end();
  });
}
