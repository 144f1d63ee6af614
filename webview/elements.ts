import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeProgressRing,
  vsCodeTextArea,
} from '@vscode/webview-ui-toolkit';

export type { TextArea } from '@vscode/webview-ui-toolkit';

/** From now on `vscode-button`, `vscode-text-area` and `vscode-progress-ring` are controls that look and behave like the editor's. */
export function defineElements(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea(), vsCodeProgressRing());
}
