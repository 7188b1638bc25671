/** What is said about the reports of scanners, in Chinese. */
export const scansZh: Readonly<Record<string, string>> = {
  'it has more than {0} vulnerabilities': '它的漏洞超过 {0} 个',
  'the id of a vulnerability cannot be read': '无法读取某个漏洞的编号',
  'the severity of a vulnerability cannot be read': '无法读取某个漏洞的严重程度',
  'the name of its scanner cannot be read': '无法读取其扫描器的名称',
  'the time of its scan cannot be read': '无法读取其扫描的时间',
  '{0} does not have an image {1}': '{0} 没有镜像 {1}',
  "Harbor's report of {0}{1} does not count: {2}": 'Harbor 对 {0} 的报告不算数：{2}',
  "Harbor's reports of {0} do not count: {1}": 'Harbor 对 {0} 的报告不算数：{1}',
  'the images of {0} were scanned by different scanners': '{0} 的各个镜像由不同的扫描器扫描',
  'the scans of the images of {0} are more than {1} apart: have all of them scanned again':
    '{0} 的各个镜像的扫描时间相差超过 {1}：请重新扫描所有镜像',
  '{0}: {1} has not said that it is Harbor (service="{2}"), so it gets no password':
    '{0}：{1} 没有说明自己是 Harbor（service="{2}"），因此不会收到密码',
  'check that the credentials are right and may read the scans of {0}; a robot account of Harbor needs the permission to read additions of artifacts (artifact-addition: read)':
    '请检查凭据是否正确，并且可以读取 {0} 的扫描结果；Harbor 的机器人账户需要读取制品附加信息的权限（artifact-addition: read）',
  'asking Harbor for the scan of {0}@{1}': '向 Harbor 询问 {0}@{1} 的扫描结果',
  '{0}@{1} is an index of {2} images, of which at most {3} are asked about': '{0}@{1} 是包含 {2} 个镜像的索引，最多询问其中 {3} 个',
  '{0}@{1} is an index of indexes': '{0}@{1} 是索引的索引',
  '{0}: Harbor has its repositories in projects, and {1} names none': '{0}：Harbor 的仓库都在项目中，而 {1} 没有写出项目',
  'Harbor has no report of {0}{1}': 'Harbor 没有 {0} 的报告',
  'Harbor has no report of {0}: it was not scanned, its scan has not ended, or has failed':
    'Harbor 没有 {0} 的报告：它没有被扫描，或者扫描没有结束或失败了',
  '{0}: {1} has no API of Harbor': '{0}：{1} 没有 Harbor 的 API',
  'the answer is not that of Harbor': '答复不是 Harbor 的',
  'the report cannot be read': '无法读取报告',
  'the report has more than {0} vulnerabilities': '报告中的漏洞超过 {0} 个',
  'the JSON ends within a list': 'JSON 在列表中间结束',
  '{0} does not count: {1}': '{0} 不算数：{1}',
  '{0} of the namespace {1} cannot be assigned, without a digest': '命名空间 {1} 的 {0} 没有摘要，无法对应',
  'its images have more than {0} vulnerabilities together': '其所有镜像的漏洞合计超过 {0} 个',
  'the API server has no VulnerabilityReports: install Trivy Operator, or remove verify.vulnerabilities.trivyOperator from the policy':
    'API 服务器没有 VulnerabilityReport：请安装 Trivy Operator，或者从策略中删除 verify.vulnerabilities.trivyOperator',
  'image-watcher may not list VulnerabilityReports in the namespace {0}: set permissions.vulnerabilityReports: true in the values of the chart, or grant list of vulnerabilityreports of aquasecurity.github.io':
    'image-watcher 不可以列出命名空间 {0} 的 VulnerabilityReport：请在 Chart 的 values 中设置 permissions.vulnerabilityReports: true，或者授予对 aquasecurity.github.io 的 vulnerabilityreports 的 list 权限',
  'the VulnerabilityReports of the namespace {0} could not be read: {1}': '无法读取命名空间 {0} 的 VulnerabilityReport：{1}',
  'the namespace {0} has more than {1} VulnerabilityReports': '命名空间 {0} 的 VulnerabilityReport 超过 {1} 个',
  'the VulnerabilityReports of the namespace {0} are larger than {1} characters': '命名空间 {0} 的 VulnerabilityReport 超过 {1} 个字符',
  'the VulnerabilityReport {0} cannot be read': '无法读取 VulnerabilityReport {0}',
  'the VulnerabilityReports of the namespace {0} cannot be read: they are not as Trivy Operator defines them':
    '无法读取命名空间 {0} 的 VulnerabilityReport：它们与 Trivy Operator 的定义不符',
};
