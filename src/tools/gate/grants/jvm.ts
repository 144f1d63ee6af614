import type { Row } from './row.ts';
import { tool } from './tool.ts';

const gradleTask =
  /^(?!.*(?:fix|format|apply|baseline|generate|update|deploy|publish|upload|install|push|send|migrate|seed|drop|delete|remove|reset|write)(?:$|[A-Z:\d]))(?!.*(?:Fix|Format|Apply|Baseline|Generate|Update|Deploy|Publish|Upload|Install|Push|Send|Migrate|Seed|Drop|Delete|Remove|Reset|Write)):?(?:[\w-]+:)*(?:test|check|build|assemble|classes|testClasses|jar|compile[A-Z]\w*|[a-z]\w*Test|[a-z]\w*Tests|[a-z]\w*Check|lint\w*|ktlint\w*(?<!Format)|detekt\w*|spotlessCheck|checkstyle\w*|pmd\w*|spotbugs\w*|jacoco\w*|javadoc|tasks|dependencies|dependencyInsight|projects|help|buildEnvironment|verification)$/;
const gradle =
  '--tests= -i --info --stacktrace -s -q --quiet --offline --no-daemon --daemon --parallel --no-parallel --continue --rerun-tasks --rerun --no-build-cache --build-cache --no-configuration-cache --configuration-cache ' +
  '--console=plain|auto|rich|verbose --warning-mode=all|none|summary|fail -x= --exclude-task= --dry-run -m --configuration= --dependency= --group= --all --max-workers=# --full-stacktrace -S --no-watch-fs';
const maven =
  '-q -B -o -e -X -ntp -am -amd -pl= -T= -f=<manifest> -fae -ff -fn -V -Dtest= -Dit.test= -DskipTests -DskipTests=true|false -DskipITs -Dmaven.test.skip=true|false -Dsurefire.failIfNoSpecifiedTests=true|false -DfailIfNoTests=true|false -Dstyle.color=always|never -batch-mode -quiet -offline -no-transfer-progress -fail-at-end -projects= -also-make -Dincludes= -Dverbose';

export const jvmRows: readonly Row[] = [
  tool('gradle', gradle, {
    operands: gradleTask,
    least: 1,
    yes: [
      './gradlew test',
      "./gradlew :core:test --tests 'a.B.c' --info",
      './gradlew check -q --offline',
      './gradlew dependencies --configuration runtimeClasspath',
      './gradlew compileKotlin ktlintCheck',
    ],
    no: [
      './gradlew publish',
      './gradlew test -I evil.gradle',
      './gradlew -b evil.gradle test',
      './gradlew test -Pa=b',
      './gradlew test -Dorg.gradle.jvmargs=x',
      './gradlew -p ../x test',
      './gradlew bootRun',
      './gradlew ktlintFormat',
      './gradlew test --scan',
      './gradlew clean',
      './gradlew deployTest2',
      './gradlew deployTest',
      './gradlew lintFix',
      './gradlew detektBaseline',
      './gradlew installDebugAndroidTest',
    ],
  }),
  tool('mvn', maven, {
    oneDash: true,
    operands:
      /^(test|verify|compile|test-compile|package|validate|process-classes|dependency:tree|dependency:list|checkstyle:check|spotless:check|spotbugs:check|pmd:check|surefire:test|failsafe:integration-test|jacoco:report|help:effective-pom)$/,
    least: 1,
    yes: [
      'mvn test',
      'mvn -q -B test -Dtest=AppTest#works',
      './mvnw -pl core -am verify -DskipTests',
      'mvn -ntp dependency:tree',
    ],
    no: [
      'mvn deploy',
      'mvn install',
      'mvn exec:java',
      'mvn test -f ../x/pom.xml',
      'mvn test -s evil.xml',
      'mvn test -DargLine=-javaagent:evil',
      'mvn test -Dmaven.ext.class.path=evil',
      'mvn clean',
    ],
  }),
];
