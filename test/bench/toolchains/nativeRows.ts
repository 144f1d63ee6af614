import type { ToolchainRow } from './row.ts';

const cMain = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n';
const rustManifest = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n';
const rustMain =
  'fn main() { println!("{}", itoa::Buffer::new().format(42)); }\n#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n';
const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>app</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>`;

export const nativeRows: readonly ToolchainRow[] = [
  {
    run: 'cargo build, cargo test with a dependency',
    needs: ['cargo'],
    files: { 'Cargo.toml': rustManifest, 'src/main.rs': rustMain },
    first: 'cargo build && cargo test',
  },
  {
    run: 'cargo new, run, fmt, clippy',
    needs: ['cargo', 'cargo fmt --version', 'cargo clippy --version'],
    first: 'rm -rf app && cargo new app && cd app && cargo run && cargo fmt && cargo clippy',
  },
  {
    run: 'go mod tidy, go test with a dependency',
    needs: ['go'],
    files: {
      'go.mod': 'module app\n\ngo 1.21\n',
      'app_test.go':
        'package app\n\nimport (\n\t"testing"\n\n\t"github.com/google/uuid"\n)\n\nfunc TestNew(t *testing.T) { _ = uuid.New() }\n',
    },
    first: 'go mod tidy && go vet ./... && go test -race ./...',
  },
  {
    run: 'go install and go tool of a program',
    needs: ['go'],
    first: 'GOBIN=$PWD/bin go install golang.org/x/example/hello@latest && bin/hello',
  },
  {
    run: 'maven test with JUnit',
    needs: ['mvn'],
    files: {
      'pom.xml': pom,
      'src/test/java/AddTest.java':
        'public class AddTest { @org.junit.Test public void adds() { org.junit.Assert.assertEquals(2, 1 + 1); } }',
    },
    first: 'mvn -q -B test',
  },
  {
    run: 'gradle test',
    needs: ['gradle'],
    files: { 'build.gradle': "apply plugin: 'java'\n", 'settings.gradle': '', 'src/main/java/A.java': 'class A {}' },
    first: 'gradle --offline build',
  },
  {
    run: 'java of a single file',
    needs: ['java'],
    files: { 'Main.java': 'class Main { public static void main(String[] a) { System.out.println(42); } }' },
    first: 'java Main.java',
  },
  {
    run: 'gcc, make -j',
    needs: ['gcc', 'make'],
    files: { 'main.c': cMain, Makefile: 'all: a b c\na b c: main.c\n\tgcc -g -o $@ main.c\n' },
    first: 'make -B -j4 && ./a',
  },
  {
    run: 'cmake, ninja, ctest',
    needs: ['cmake', 'ninja'],
    files: {
      'main.c': cMain,
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.10)\nproject(app C)\nenable_testing()\nadd_executable(app main.c)\nadd_test(NAME runs COMMAND app)\n',
    },
    first: 'cmake -S . -B build -G Ninja && cmake --build build && ctest --test-dir build',
  },
  {
    run: 'ccache',
    needs: ['ccache', 'gcc'],
    files: { 'main.c': cMain },
    first: 'ccache gcc -c main.c && ccache -s',
    second: 'ccache gcc -c main.c && ccache -s | grep -i "hits:.*1 "',
  },
  {
    run: 'gdb, strace',
    needs: ['gdb', 'strace', 'gcc'],
    files: { 'main.c': cMain },
    first: 'gcc -g main.c && gdb -batch -ex "break main" -ex run -ex bt ./a.out && strace -f -c ./a.out',
  },
  {
    run: 'valgrind',
    needs: ['valgrind', 'gcc'],
    files: { 'main.c': cMain },
    first: 'gcc -g main.c && valgrind -q --error-exitcode=3 ./a.out',
  },
  {
    run: 'address sanitizer',
    needs: ['gcc'],
    files: { 'main.c': cMain },
    first: 'gcc -fsanitize=address,undefined main.c && ./a.out',
  },
  { run: 'perf record', needs: ['perf'], first: 'perf record -o perf.data true', isOutside: true },
];
