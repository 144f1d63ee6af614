/**
 * Paths in a home folder with secrets that `src/tools/policy/secretFiles.ts` does not recognize by name: storage of browsers, mail programs,
 * messengers, editors and key stores. Relative to the home folder.
 */
export const homeSecretPaths: readonly string[] = [
  ...'.mozilla .thunderbird .pki .Xauthority .ICEauthority .vnc .remmina .electrum .bitcoin .ethereum .var/app'.split(
    ' ',
  ),
  ...'.vscode-server/data .vscode-server-insiders/data .cursor-server/data .windsurf-server/data'.split(' '),
  ...'.bluemix .oci .databricks .snowsql .vercel .railway .fly .wrangler .ngrok2 .kaggle .subversion/auth'.split(' '),
  ...'.claude.json .gemini .huggingface/token .cache/huggingface/token .viminfo .lesshst .rclone.conf .lftprc'.split(
    ' ',
  ),
  ...'.msmtprc .mbsyncrc .fetchmailrc .mc/config.json .terraformrc snap/firefox snap/chromium'.split(' '),
  ...'keyrings kwalletd fish/fish_history gnome-online-accounts evolution remmina com.vercel.cli DBeaverData'
    .split(' ')
    .map((name) => `.local/share/${name}`),
  ...[
    ...'google-chrome google-chrome-beta google-chrome-unstable chromium BraveSoftware microsoft-edge vivaldi opera'.split(
      ' ',
    ),
    ...'Code VSCodium Cursor Windsurf JetBrains github-copilot Bitwarden 1Password KeePass keepassxc'.split(' '),
    ...'Signal Slack discord Element evolution goa-1.0 remmina gh-copilot sops age solana hcloud scw ngrok'.split(' '),
    ...'netlify wrangler containers/auth.json huggingface'.split(' '),
    'Code - Insiders',
    'Microsoft',
  ].map((name) => `.config/${name}`),
  // Sockets of virtual machines with containers: one that a service creates later is not hidden by itself.
  ...'.docker/run .docker/desktop .orbstack/run .colima .lima'.split(' '),
  // macOS
  ...'Keychains Cookies Mail Messages Safari Containers Accounts'.split(' ').map((name) => `Library/${name}`),
  ...[
    ...'Google Chromium BraveSoftware Vivaldi Firefox Code VSCodium Cursor Windsurf JetBrains Bitwarden'.split(' '),
    ...'Signal Slack discord Thunderbird'.split(' '),
    ...['Microsoft Edge', 'Code - Insiders', '1Password', 'com.operasoftware.Opera'],
  ].map((name) => `Library/Application Support/${name}`),
];

/**
 * Settings in deeper folders that programs need, hidden only if they contain a secret. Of the files directly in the home folder, this is
 * tested for all with a leading dot.
 */
export const homeSettingsPaths: readonly string[] = [
  ...'.config/pip/pip.conf .pip/pip.conf .config/git/config .config/fish/config.fish .config/npm/npmrc'.split(' '),
  ...'.config/uv/uv.toml .config/pypoetry/auth.toml .config/nix/nix.conf .config/yarn/config'.split(' '),
  ...'.cargo/config.toml .cargo/config .gradle/gradle.properties .gradle/init.gradle .bundle/config'.split(' '),
  ...'.sbt/repositories .nuget/NuGet/NuGet.Config .docker/config.json .gem/gemrc'.split(' '),
];

/** Settings that the workspace contains as well. A name is tested in every folder. */
export const settingsFileNames: ReadonlySet<string> = new Set(['.npmrc', '.yarnrc.yml', 'pip.conf', 'nuget.config']);

/** Secrets of the system, absolute paths. A command of root owns and could read them, although it has no capabilities. */
export const systemSecretPaths: readonly string[] = (
  'shadow shadow- gshadow gshadow- ssl/private letsencrypt wireguard openvpn krb5.keytab kubernetes docker/key.json ' +
  'ppp/chap-secrets ppp/pap-secrets NetworkManager/system-connections ssh/ssh_host_rsa_key ssh/ssh_host_dsa_key ' +
  'ssh/ssh_host_ecdsa_key ssh/ssh_host_ed25519_key'
)
  .split(' ')
  .map((name) => `/etc/${name}`);
