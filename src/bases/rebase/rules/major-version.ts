import type { PlatformContent } from '../content.ts';
import { variables } from '../../recognize/settings.ts';
import { haveOtherMajors, majorsOf, sameMajors } from './major-numbers.ts';
import { type BaseChange, type Rule, shown } from './rule.ts';

/** The maximum number of tags that a message names of each base. */
const maxShown = 4;
const label = 'org.opencontainers.image.version';

/**
 * The variables in which images of runtimes name their version, and how many of its numbers decide whether programs still work. The images are those of Docker's
 * official library, of Microsoft and of Red Hat: eclipse-temurin, node, ubi9/nodejs-22, python, golang, ruby, php, erlang, elixir, swift, julia, nginx, httpd, haproxy, tomcat, jetty, postgres,
 * mysql, mongo, redis, dotnet/runtime, dotnet/aspnet and ubi8/dotnet-80; and of denoland/deno.
 */
const runtimes: Readonly<Record<string, number>> = {
  JAVA_VERSION: 1,
  NODE_VERSION: 1,
  NODEJS_VERSION: 1,
  PYTHON_VERSION: 2,
  GOLANG_VERSION: 1,
  RUBY_VERSION: 2,
  PHP_VERSION: 2,
  OTP_VERSION: 1,
  ELIXIR_VERSION: 2,
  SWIFT_VERSION: 1,
  JULIA_VERSION: 1,
  DENO_VERSION: 1,
  NGINX_VERSION: 1,
  HTTPD_VERSION: 2,
  HAPROXY_VERSION: 2,
  TOMCAT_VERSION: 1,
  JETTY_VERSION: 1,
  PG_MAJOR: 1,
  MYSQL_MAJOR: 2,
  MONGO_MAJOR: 2,
  REDIS_VERSION: 1,
  DOTNET_VERSION: 1,
  DOTNET_CORE_VERSION: 1,
  ASPNET_VERSION: 1,
};

/** Compares every sign of the version of a base. One that shows another major version is enough, because the others may be about something else. */
export const majorVersion: Rule = {
  id: 'MajorVersionChanged',
  about: `A sign of the major version differs: a number in the tags of the base with the same word (21 of \`21.0.1\`, 17 of \`jre-17\`, 12 of \`nodejs20-debian12\`; besides the tags that are followed, all that name a version with two numbers are compared, and refuse if no two of them agree), the label or annotation \`${label}\`, the variable of a runtime, such as \`JAVA_VERSION\` (of some, such as Python, Ruby and PHP, the second number counts as well), or the release of the distribution (\`VERSION_ID\` of os-release, read as for \`DistributionChanged\`).`,
  check(change) {
    const { tags, oldBase, newBase } = change;
    if (tags.oldBase !== undefined && tags.newBase !== undefined && !sameMajors(majorsOf(tags.oldBase), majorsOf(tags.newBase)))
      return `the version of the base changes from ${shown(tags.oldBase)} to ${shown(tags.newBase)}`;
    const { ofOldBase = [], ofNewBase = [] } = tags;
    if (haveOtherMajors(ofOldBase, ofNewBase))
      return `the version of the base changes from ${shown(ofOldBase.slice(0, maxShown).join(', '))} to ${shown(ofNewBase.slice(0, maxShown).join(', '))}`;
    const [before, after] = [versionOf(oldBase), versionOf(newBase)];
    if (before !== undefined && after !== undefined && numbersOf(before, 1) !== numbersOf(after, 1))
      return `the version of the base changes from ${shown(before)} to ${shown(after)}`;
    return changedRuntime(change) ?? changedRelease(change);
  },
};

function changedRuntime({ oldBase, newBase }: BaseChange): string | undefined {
  const [before = {}, after = {}] = [oldBase, newBase].map(({ config }) => variables(config.config?.Env));
  for (const [name, count] of Object.entries(runtimes)) {
    const [old, next] = [before[name], after[name]];
    if (old === undefined || next === undefined || numbersOf(old, count) === numbersOf(next, count)) continue;
    return `the variable ${name} of the base changes from ${shown(old)} to ${shown(next)}`;
  }
  return undefined;
}

/** Compares the releases of one distribution. Another distribution is refused by a rule of its own. */
function changedRelease({ files }: BaseChange): string | undefined {
  const { system, release: old } = files?.oldBase ?? {};
  const { system: newSystem, release: next } = files?.newBase ?? {};
  if (old === undefined || next === undefined || system !== newSystem || old === next) return undefined;
  return `the distribution of the base changes from ${system} ${old} to ${system} ${next}`;
}

function versionOf({ manifest, entry, config }: PlatformContent): string | undefined {
  return manifest.annotations?.[label] ?? entry?.annotations?.[label] ?? config.config?.Labels?.[label];
}

/** The first numbers of a version: `21` of `jdk-21.0.1+12`, and `3.12` of `3.12.1`. Empty if it has none. */
function numbersOf(version: string, count: number): string {
  const [, numbers = ''] = /^(?:[a-z]+-?)?(\d{1,9}(?:\.\d{1,9}){0,3})/i.exec(version) ?? [];
  return numbers.split('.', count).map(Number).join('.');
}
