import { isGradleTask } from './checkNames.ts';
import type { Row } from './row.ts';
import { tool } from './tool.ts';

const gradle =
  '--tests= -i --info --stacktrace -s -q --quiet --offline --no-daemon --daemon --parallel --no-parallel --continue --rerun-tasks --rerun --no-build-cache --build-cache --no-configuration-cache --configuration-cache ' +
  '--console=plain|auto|rich|verbose --warning-mode=all|none|summary|fail -x= --exclude-task= --dry-run -m --configuration= --dependency= --group= --all --max-workers=# --full-stacktrace -S --no-watch-fs';
const maven =
  '-q -B -o -e -X -ntp -am -amd -pl= -T= -f=<folder> -fae -ff -fn -V -Dtest= -Dit.test= -DskipTests -DskipTests=true|false -DskipITs -Dmaven.test.skip=true|false -Dsurefire.failIfNoSpecifiedTests=true|false -DfailIfNoTests=true|false -Dstyle.color=always|never -batch-mode -quiet -offline -no-transfer-progress -fail-at-end -projects= -also-make -Dincludes= -Dverbose';

/**
 * A property of the project's own build: a number, a yes or a no; and system properties of libraries for tests. What names a file, a
 * program, an address or another environment is not here.
 */
const property =
  /^-P(?!\w*(?:publish|deploy|release|sign|upload|prod|push|skip))[a-z][\w.]*=(?:\d{1,6}|true|false)$|^-PratchetFrom=(?!-)[\w./-]+$/i;
const systemProperty =
  /^-D(?:testcontainers|junit\.jupiter|junit|kotest|surefire|failsafe|test|tests|spring\.test|spotless\.check|checkstyle|jacoco|enforcer|pmd|spotbugs|rat|license|org\.gradle\.(?:parallel|caching|daemon|workers\.max|configureondemand|welcome))(?:\.(?!.*(?:file|path|dir|class|command|exec|agent|url|host))[\w.-]+)?=(?:\d{1,6}|true|false)$/;
const mavenProperty =
  /^-D(?:outputType=(?:text|dot|tgf|graphml)|forceStdout|expression=project\.[\w.]+|groups=[\w,|&!() -]+|verbose=(?:true|false)|scope=\w+|skip[A-Z]\w*(?:=(?:true|false))?|(?:surefire|failsafe)\.\w*[fF]ail\w*=(?:true|false))$|^-T\d+(?:\.\d+)?C$/;

export const jvmRows: readonly Row[] = [
  tool('gradle', gradle, {
    operands: isGradleTask,
    also: new RegExp(`${property.source}|${systemProperty.source}`, 'i'),
    least: 1,
    yes: [
      './gradlew test',
      "./gradlew :core:test --tests 'a.B.c' --info",
      './gradlew check -q --offline',
      './gradlew dependencies --configuration runtimeClasspath',
      './gradlew compileKotlin ktlintCheck',
      './gradlew :api:test -PmaxParallelForks=2 -Dtestcontainers.reuse.enable=true',
      './gradlew :persistence:flywayInfo bootJar koverVerify',
    ],
    no: [
      './gradlew publish',
      './gradlew test -I evil.gradle',
      './gradlew -b evil.gradle test',
      './gradlew test -Pa=b',
      './gradlew test -PdeployNow=true',
      './gradlew test -Djava.net.preferIPv4Stack=true',
      './gradlew test -Dtest.file=1',
      './gradlew test -Dorg.gradle.java.home=1',
      './gradlew -Penv=production :api:flywayInfo',
      './gradlew flywayMigrate',
      './gradlew properties',
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
    also: new RegExp(`${mavenProperty.source}|${systemProperty.source}`),
    operands:
      /^(test|verify|compile|test-compile|package|validate|process-classes|dependency:tree|dependency:list|dependency:analyze-only|dependency:analyze-duplicate|dependency:build-classpath|flyway:(?:info|validate)|liquibase:(?:status|validate)|checkstyle:check|spotless:check|spotbugs:check|pmd:check|surefire:test|failsafe:integration-test|jacoco:report|jacoco:check|help:effective-pom|help:evaluate|dependency:analyze|dependency:resolve|enforcer:enforce|javadoc:javadoc|pitest:mutationCoverage|surefire-report:report|formatter:validate|fmt:check|ktlint:check|detekt:check|license:check|sortpom:verify|integration-test|archunit:arch-test|help:active-profiles)$/,
    least: 1,
    yes: [
      'mvn test',
      'mvn -q -B test -Dtest=AppTest#works',
      './mvnw -pl core -am verify -DskipTests',
      'mvn -ntp dependency:tree -DoutputType=text',
      'mvn help:evaluate -Dexpression=project.version -q -DforceStdout',
      'mvn -DskipITs verify -T1C',
    ],
    no: [
      'mvn deploy',
      'mvn help:evaluate -Dexpression=settings.servers',
      'mvn help:evaluate -Dexpression=project.version -Doutput=/x',
      'mvn dependency:tree -DoutputFile=/x',
      'mvn verify -DskipTests=x -Dexec.executable=evil',
      'mvn install',
      'mvn exec:java',
      'mvn test -f ../x/pom.xml',
      'mvn test -s evil.xml',
      'mvn test -DargLine=-javaagent:evil',
      'mvn test -Dmaven.ext.class.path=evil',
      'mvn clean',
    ],
  }),
  tool('mvn', '-q -B -o -e -ntp -pl= -am', {
    why: 'The build asks its package servers for newer versions, and changes none.',
    oneDash: true,
    operands: /^versions:display-(?:dependency|plugin|property|parent)-updates$/,
    least: 1,
    yes: ['./mvnw versions:display-dependency-updates'],
    no: ['mvn versions:use-latest-versions', 'mvn versions:display-dependency-updates -Dversions.outputFile=/x'],
  }),
];
