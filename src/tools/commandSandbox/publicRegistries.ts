/** Public package registries of a package manager, with the hosts that serve their packages. All use https. */
interface PublicRegistry {
  hosts: readonly string[];
  /** Documentation that names the hosts. */
  source: string;
}

/**
 * Public registries. Not here: hosts with contents of anybody, such as `github.com` and `storage.googleapis.com`, to which some registries
 * redirect, and hosts that only receive packages.
 */
export const publicRegistries: readonly PublicRegistry[] = [
  { hosts: ['registry.npmjs.org'], source: 'https://docs.npmjs.com/cli/using-npm/registry' },
  {
    hosts: ['registry.yarnpkg.com', 'repo.yarnpkg.com'],
    source: 'https://yarnpkg.com/configuration/yarnrc#npmRegistryServer',
  },
  { hosts: ['pypi.org', 'files.pythonhosted.org'], source: 'https://docs.pypi.org/api/index-api/' },
  {
    hosts: ['index.crates.io', 'static.crates.io', 'crates.io'],
    source: 'https://doc.rust-lang.org/cargo/reference/registry-index.html',
  },
  { hosts: ['proxy.golang.org', 'sum.golang.org'], source: 'https://go.dev/ref/mod#environment-variables' },
  {
    hosts: ['repo.maven.apache.org', 'repo1.maven.org'],
    source: 'https://central.sonatype.org/consume/consume-apache-maven/',
  },
  {
    hosts: ['plugins.gradle.org', 'plugins-artifacts.gradle.org', 'services.gradle.org', 'downloads.gradle.org'],
    source:
      'https://docs.gradle.org/current/userguide/plugins.html and https://docs.gradle.org/current/userguide/gradle_wrapper.html',
  },
  {
    hosts: ['rubygems.org', 'index.rubygems.org'],
    source: 'https://guides.rubygems.org/rubygems-org-compact-index-api/',
  },
  { hosts: ['api.nuget.org', 'globalcdn.nuget.org'], source: 'https://learn.microsoft.com/nuget/api/overview' },
  { hosts: ['repo.packagist.org', 'packagist.org'], source: 'https://packagist.org/apidoc' },
  { hosts: ['repo.hex.pm', 'hex.pm', 'builds.hex.pm'], source: 'https://hex.pm/docs/mirrors' },
];
