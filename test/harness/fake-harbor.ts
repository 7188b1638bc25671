/**
 * Harbor's API for the scans of images, beside a fake registry at the same host. Written after Harbor's source, `main` of 2026-08-21 (VERSION v2.16.0, commit
 * c50c7dd): src/server/v2.0/handler/artifact.go (GetVulnerabilitiesAddition), src/server/v2.0/handler/{base,util}.go (permissions, media types),
 * src/controller/scan/base_controller.go (GetReport), src/pkg/scan/report/report.go (joined reports of an index), src/pkg/scan/vuln/report.go (their shape),
 * src/server/middleware/v2auth/auth.go (challenges), src/lib/http/error.go (errors).
 */
import { startFakeRegistry, type FakeAnswer, type FakeCredentials, type FakeRegistry, type FakeRequest } from './fake-registry.ts';

/** The media types of reports: the generic one, and the native one of old scanners. */
export const reportTypes = {
  generic: 'application/vnd.security.vulnerability.report; version=1.1',
  native: 'application/vnd.scanner.adapter.vuln.report.harbor+json; version=1.0',
};

/** A vulnerability of a report, with the fields that tests choose. */
export type HarborFinding = { id: string; severity?: string; package?: string; fix_version?: string };
/** The state of a scan: a report, or none, because the scan is under way or has failed, or nobody has asked for it. */
export type HarborScanState =
  | 'running'
  | 'failed'
  | { at: string; scanner?: string; found: readonly HarborFinding[]; type?: keyof typeof reportTypes };

/** Who may do what in the only project. A robot account that may only pull lacks the permission to read additions. */
export type HarborUsers = { reader?: FakeCredentials; puller?: FakeCredentials; isPublic?: boolean };

export type FakeHarbor = FakeRegistry & {
  /** Records the state of the scan of an image that the registry holds. */
  setScan(digest: string, state: HarborScanState): void;
  /** Lets Harbor know an artifact of a repository. An index names the artifacts that are walked for its report. */
  setArtifact(repository: string, digest: string, children?: readonly string[]): void;
  /** Removes the scanner of the project. */
  removeScanner(): void;
};

/** Starts a fake Harbor on a free loopback port. */
export async function startFakeHarbor({ reader, puller, isPublic = false }: HarborUsers = {}): Promise<FakeHarbor> {
  const registry = await startFakeRegistry();
  const scans = new Map<string, HarborScanState>();
  const artifacts = new Map<string, readonly string[] | undefined>();
  const known = new Set<string>();
  let hasScanner = true;
  // A public project is no different for the registry: it asks for a token, which everybody gets.
  const user = isPublic ? {} : (reader ?? puller);
  registry.requireBearer({ ...user, service: 'harbor-registry', realm: `http://${registry.host}/service/token` });

  const refuse = ({ authorization }: FakeRequest): FakeAnswer | undefined => {
    if (isPublic || (authorization !== undefined && authorization === basic(reader))) return undefined;
    return authorization !== undefined && authorization === basic(puller)
      ? error(403, 'FORBIDDEN', 'forbidden')
      : error(401, 'UNAUTHORIZED', 'unauthorized');
  };
  /** The report of an artifact in one media type, as GetReport and ResolveData find it. */
  const find = (digest: string, type: string): object | undefined => {
    const digests = artifacts.get(digest) ?? [digest];
    // An image that was never scanned leaves the whole index without a report; one whose scan is under way or has failed is left out of it.
    if (digests.some((one) => scans.get(one) === undefined)) return undefined;
    const reports = digests.flatMap((one) => {
      const scan = scans.get(one);
      return typeof scan !== 'object' || reportTypes[scan.type ?? 'generic'] !== type ? [] : [toReport(one, scan)];
    });
    return reports.reduce<ReturnType<typeof toReport> | undefined>((all, one) => (all === undefined ? one : merge(all, one)), undefined);
  };

  registry.answerNext(
    (request) => {
      const [path = ''] = request.path.split('?');
      const [, project = '', name = '', digest = ''] =
        /^\/api\/v2\.0\/projects\/([^/]+)\/repositories\/([^/]+)\/artifacts\/([^/]+)\/additions\/vulnerabilities$/.exec(path) ?? [];
      if (digest === '') return error(404, 'NOT_FOUND', `path ${path} was not found`);
      const refusal = refuse(request);
      if (refusal !== undefined) return refusal;
      // The router unescapes once, and the handler again.
      const once = decodeURIComponent(name);
      const repository = `${project}/${once.includes('/') ? '' : decodeURIComponent(once)}`;
      if (!artifacts.has(digest) || !known.has(`${repository}@${digest}`))
        return error(404, 'NOT_FOUND', `artifact ${repository}@${digest} not found`);
      if (!hasScanner) return error(404, 'NOT_FOUND', 'no scanner registration configured for project: 1');
      const types = (request.scanTypes ?? '')
        .split(',')
        .map((type) => type.trim())
        .filter((type) => Object.values(reportTypes).includes(type));
      for (const type of types.length > 0 ? types : [reportTypes.native]) {
        const report = find(digest, type);
        if (report !== undefined) return { body: JSON.stringify({ [type]: report }) };
      }
      return { body: '{}' };
    },
    { path: '/api/', times: Infinity },
  );
  // The getters of the registry are kept.
  return Object.defineProperties(
    {
      setScan: (digest: string, state: HarborScanState) => void scans.set(digest, state),
      setArtifact(repository: string, digest: string, children?: readonly string[]) {
        artifacts.set(digest, children);
        known.add(`${repository}@${digest}`);
      },
      removeScanner: () => void (hasScanner = false),
    },
    Object.getOwnPropertyDescriptors(registry),
  ) as FakeHarbor;
}

function toReport(digest: string, { at, scanner = 'Trivy', found }: Exclude<HarborScanState, string>) {
  return {
    generated_at: at,
    scanner: { name: scanner, vendor: 'Aqua Security', version: 'v0.65.0' },
    severity: 'Critical',
    vulnerabilities: found.map(({ id, severity = 'High', package: name = 'openssl', fix_version = '' }) => ({
      id,
      package: name,
      version: '1.0.0',
      fix_version,
      severity,
      status: '',
      description: 'A description with "quotes", [brackets] and {braces}.',
      links: [`https://avd.aquasec.com/nvd/${id.toLowerCase()}`],
      artifact_digests: [digest],
      preferred_cvss: { score_v3: null, score_v2: null, vector_v3: '', vector_v2: '' },
      cwe_ids: [''],
      vendor_attributes: null,
    })),
  };
}

function merge(one: ReturnType<typeof toReport>, other: ReturnType<typeof toReport>): ReturnType<typeof toReport> {
  const { generated_at, scanner } = other.generated_at > one.generated_at ? other : one;
  return { ...one, generated_at, scanner, vulnerabilities: [...one.vulnerabilities, ...other.vulnerabilities] };
}

function error(status: number, code: string, message: string): FakeAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify({ errors: [{ code, message }] }) };
}

function basic(credentials: FakeCredentials | undefined): string | undefined {
  return credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
}
