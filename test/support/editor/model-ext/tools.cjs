// For tests only: tools that another extension brings to the editor. `calls` says what became of them.
const vscode = require('vscode');

exports.registerTools = () => {
  const calls = [];
  const told = (name, parts) => (call) => {
    calls.push({ name, input: call.input });
    return new vscode.LanguageModelToolResult(parts(call.input));
  };
  const pdf = () =>
    vscode.LanguageModelDataPart ? [new vscode.LanguageModelDataPart(Buffer.from('%PDF-1'), 'application/pdf')] : [];
  vscode.lm.registerTool('table_note', {
    invoke: told('note', ({ text }) => [new vscode.LanguageModelTextPart(`Noted: ${text}`), ...pdf()]),
  });
  vscode.lm.registerTool('table_careful', {
    prepareInvocation: () => ({ confirmationMessages: { title: 'Is this careful?', message: 'The table asks.' } }),
    invoke: told('careful', () => [new vscode.LanguageModelTextPart('Careful.')]),
  });
  vscode.lm.registerTool('table_never', {
    invoke: (call, token) =>
      new Promise(() => {
        calls.push({ name: 'never', input: call.input });
        token.onCancellationRequested(() => calls.push({ name: 'never', cancelled: true }));
      }),
  });
  return calls;
};
