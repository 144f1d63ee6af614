import type { Row } from './row.ts';
import { asksCompiler, looks, tool } from './tool.ts';

/** Of `go`: one dash. Left out: `-exec`, `-toolexec`, `-vettool`, `-overlay`, `-modfile`, `-ldflags`, `-gcflags`, `-C`. */
const goBuild =
  '-v -race -tags=<name> -trimpath -mod=readonly|vendor -p=# -n -x -a -cover -asan -msan -work -ldflags=<strip> -buildvcs=true|false|auto';

const modulesRows: readonly Row[] = [
  tool(
    'go test',
    `${goBuild} -run= -skip= -count=# -cover -covermode=set|count|atomic -coverpkg=<name> -coverprofile=<output> -timeout=<time> -bench= -benchtime= -benchmem -short -failfast -parallel=# -shuffle=on|off|# -json -list= -vet=off|all -cpu= -fullpath -fuzz= -fuzztime=<time>`,
    {
      oneDash: true,
      operands: 'packages',
      yes: [
        'go test ./...',
        'go test -race -run TestA/b ./internal/x -count=1 -v',
        'go test -coverprofile=coverage.out ./...',
        'go test -run=^$ -bench=. -benchmem ./pkg',
      ],
      no: [
        'go test -exec=./evil ./...',
        'go test -toolexec ./evil ./...',
        'go test -vet=off -overlay=x ./...',
        'go test -o /x ./pkg',
        'go test -coverprofile=/x ./...',
        'go test -modfile=x ./...',
        'go test evil.example/x@latest',
        'go test -mod=mod evil.example/x',
        'go test ../outside',
        'go test a/../../outside/...',
        'go test -fuzzcachedir=/x ./...',
      ],
    },
  ),
  tool('go build', `${goBuild} -o=<output>`, {
    oneDash: true,
    operands: 'packages',
    yes: [
      'go build ./...',
      'go build -o bin/server ./cmd/server',
      'go build -o /dev/null ./...',
      "go build -ldflags '-s -w' ./cmd/server",
    ],
    no: [
      "go build -ldflags '-s -extld=evil' ./...",
      'go build -o /x ./cmd',
      'go build -toolexec=./evil ./...',
      'go build -ldflags=-extld=evil ./...',
      'go build -o ../x ./cmd',
      'go install ./cmd',
    ],
  }),
  tool('go vet', `${goBuild} -c=#`, {
    oneDash: true,
    operands: 'packages',
    yes: ['go vet ./...'],
    no: ['go vet -vettool=./evil.sh ./...', 'go vet -json -exec=x'],
  }),
  looks('go list', '-m -json -deps -test -e -f= -find -compiled -export', {
    ...asksCompiler,
    oneDash: true,
    operands: 'packages',
    yes: ["go list -f '{{.ImportPath}}' ./...", 'go list -m all'],
    no: ['go list -m -u all', 'go list -toolexec=./evil ./...', 'go list -modfile=x', 'go list -C .. ./...'],
  }),
  looks('go list', '-m -u -json -versions -retracted -f= -e', {
    oneDash: true,
    operands: /^all$/,
    kind: 'asks',
    needs: ['-u', '-versions'],
    yes: ['go list -m -u all'],
    no: ['go list -m -u -modfile=x all', 'go list -m -versions evil.example/secret'],
  }),
  ...['go mod graph', 'go mod why', 'go mod verify'].map((command) =>
    looks(command, '-m', {
      oneDash: true,
      operands: /^[\w.][\w./-]*$/,
      yes: [command],
      no: ['go mod tidy', 'go mod download', `${command} -modfile=x`],
    }),
  ),
  looks('go version', '-m -v', {
    oneDash: true,
    operands: 'paths',
    yes: ['go version', 'go version -m bin/server'],
    no: ['go version /usr/bin/go'],
  }),
  looks('go env', '-json -changed', {
    oneDash: true,
    operands: /^GO[A-Z0-9]*$/,
    least: 1,
    yes: ['go env GOPATH GOOS'],
    no: ['go env -w GOFLAGS=-x', 'go env -u GOFLAGS', 'go env'],
  }),
  looks('go doc', '-all -short -src -u -cmd -c', {
    oneDash: true,
    operands: /^[\w.][\w./-]*$/,
    yes: ['go doc net/http.Server'],
    no: ['go doc -http=:1', 'go doc -C .. x'],
  }),
  looks('go tool cover', '-func=<path>', {
    oneDash: true,
    needs: ['-func'],
    yes: ['go tool cover -func=coverage.out'],
    no: ['go tool cover -html=coverage.out -o /x', 'go tool cover -func=/etc/passwd', 'go tool pprof x'],
  }),
  ...['gofmt', 'goimports', 'gofumpt'].map((command) =>
    tool(command, '-l -d -s -e', {
      operands: 'paths',
      needs: ['-l', '-d'],
      yes: [`${command} -l .`, `${command} -d src`],
      no: [`${command} -w .`, `${command} -l -w .`, `${command} -l -cpuprofile=/x .`, `${command} -l /etc`],
    }),
  ),
  tool(
    'golangci-lint run',
    '--timeout=<time> -v --verbose --fast --fast-only --disable= --enable= -E= -D= --enable-only= --new --new-from-rev=<revision> --new-from-merge-base=<revision> --max-issues-per-linter=# --max-same-issues=# --out-format=tab|colored-line-number|line-number|json|github-actions|checkstyle|colored-tab --allow-parallel-runners --tests --tests=true|false --concurrency=# -j=# --color=always|never|auto --issues-exit-code=# --show-stats',
    {
      operands: 'packages',
      yes: ['golangci-lint run ./...', 'golangci-lint run --timeout 5m ./internal/x'],
      no: [
        'golangci-lint run --fix',
        'golangci-lint run -c evil.yml',
        'golangci-lint run --new-from-rev=--output=/x',
        'golangci-lint run --cpu-profile-path=/x',
        'golangci-lint run --out-format=json:/x',
      ],
    },
  ),
  tool('gotestsum', '--format=<name> -f=<name> --hide-summary=<labels> --no-color', {
    rest: {
      options: `${goBuild} -run= -skip= -count=# -covermode=set|count|atomic -coverprofile=<output> -timeout=<time> -short -failfast -parallel=# -shuffle=on|off|#`,
      operands: 'packages',
    },
    yes: ['gotestsum --format=pkgname -- -short -shuffle=on ./...'],
    no: [
      'gotestsum --junitfile /x',
      'gotestsum --post-run-command ./evil',
      'gotestsum --raw-command -- ./evil',
      'gotestsum -- -exec=./evil ./...',
      'gotestsum --watch',
      'gotestsum tool slowest',
    ],
  }),
  tool('staticcheck', '-checks= -f=text|stylish|json -tests=true|false', {
    oneDash: true,
    optionsFirst: true,
    operands: 'packages',
    yes: ['staticcheck ./...'],
    no: ['staticcheck -modfile=x ./...'],
  }),
  tool('govulncheck', '-show= -mode=source -test', {
    oneDash: true,
    optionsFirst: true,
    kind: 'asks',
    why: 'It asks for known vulnerabilities of the dependencies.',
    operands: 'packages',
    yes: ['govulncheck ./...'],
    no: ['govulncheck -db=https://evil.example ./...', 'govulncheck -C .. ./...'],
  }),
];

/** Each of them works on the module that its folder is in. */
export const goRows: readonly Row[] = modulesRows.map((row) => ({ home: 'go.mod', ...row }));
