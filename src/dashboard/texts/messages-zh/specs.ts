/** What is said about the spec of a policy that cannot be used, in Chinese. */
export const specsZh: Readonly<Record<string, string>> = {
  'not reconciled yet: no worker runs (image-watcher doctor), its namespace is not selected (image-watcher check --server URL), or its first attempt failed and is repeated':
    '尚未调和：没有 worker 在运行（image-watcher doctor）、它的命名空间没有被选中（image-watcher check --server URL），或首次尝试失败并会重复',
  '; did you mean "{0}"?': '；您是想写“{0}”吗？',
  'fields of {0} may not be written: its API group belongs to Kubernetes itself': '不可以写入 {0} 的字段：它的 API 组属于 Kubernetes 本身',
  'fields of {0} are not written by policies': '策略不写入 {0} 的字段',
  'fields of {0} may not be written: it has a pod template, whose containers are found by their image; remove fields':
    '不可以写入 {0} 的字段：它有 Pod 模板，其容器按镜像查找；请移除 fields',
  '{0} of {1} holds a {2}: write it as fields.{3}': '{1} 的 {0} 中是 {2}：请写成 fields.{3}',
  '{0} of {1} holds the version of a chart, and this policy selects images: write spec.artifact: Chart':
    '{1} 的 {0} 中是 chart 的版本，而该策略选择镜像：请写 spec.artifact: Chart',
  '{0} of {1} holds an image, and this policy selects charts: remove spec.artifact':
    '{1} 的 {0} 中是镜像，而该策略选择 chart：请移除 spec.artifact',
  'the operator lets policies write {0} of {1} for images of {2} only': '管理员只允许策略为 {2} 的镜像写入 {1} 的 {0}',
  '{0} of {1} holds a whole image reference: write it as fields.image': '{1} 的 {0} 中是完整的镜像引用：请写成 fields.image',
  '{0} of {1} may not be written: let the operator allow it with the setting {2}': '不可以写入 {1} 的 {0}：请管理员用设置 {2} 允许',
  '{0} of {1} may not be written together: their repositories are not in one field': '不可以一起写入 {1} 的 {0}：它们的仓库不在同一个字段',
  'name {0}, or remove it': '请写 {0}，或移除它',
  'remove it, for the operator fixed the repository': '请移除它，因为管理员固定了仓库',
  '{0} of {1} may not be written with the repository in {2}: {3}. Where it is right, let the operator allow it with the setting {4}':
    '不可以以 {2} 中的仓库写入 {1} 的 {0}：{3}。如果正确，请管理员用设置 {4} 允许',
  'fields of {0} are never written': '从不写入 {0} 的字段',
  'is in a pod template, whose containers are found by their image: remove it': '在 Pod 模板中，其容器按镜像查找：请移除它',
  'has both repository and image: keep one of them': '同时有 repository 和 image：请只保留一个',
  'has wildcards, so its repository must be beside it: {0}': '带有通配符，因此它的仓库必须在旁边：{0}',
  'name the path without wildcards': '请写出不带通配符的路径',
  '"{0}" is not a registry host': '“{0}”不是镜像仓库的主机',
  '"{0}" is not a repository path: lower-case letters, digits and . _ - between slashes':
    '“{0}”不是仓库路径：斜杠之间是小写字母、数字和 . _ -',
  '"{0}" has a digest that is not sha256:<64 hex digits>': '“{0}”的摘要不是 sha256:<64 位十六进制数>',
  '"{0}" has a tag that is not valid: letters, digits and . _ -, at most 128, none of . - first':
    '“{0}”的标签无效：字母、数字和 . _ -，最多 128 个，不能以 . 或 - 开头',
  'the image name is empty': '镜像名称为空',
  'an image name has no scheme: leave out what is before the host, with ://': '镜像名称没有协议：请去掉主机之前的内容和 ://',
  'an image name holds no user or password: leave out what is before the host, with @': '镜像名称不含用户或密码：请去掉主机之前的内容和 @',
  'the image name "{0}" is longer than {1} characters': '镜像名称“{0}”超过 {1} 个字符',
  'the pattern is longer than {0} characters': '模式超过 {0} 个字符',
  'the pattern "{0}" is not RE2 syntax: {1}': '模式“{0}”不是 RE2 语法：{1}',
  '{0} are allowed: write smaller repetition counts and fewer classes such as \\pL': '允许 {0} 条：请减小重复次数，少用 \\pL 这样的字符类',
  'the pattern "{0}" is too large: it compiles to {1} instructions, and {2}': '模式“{0}”过大：它编译为 {1} 条指令，而{2}',
  'namespace {0} is not selected by watch.namespaceSelector of the configuration: label the Namespace as it asks for':
    '配置的 watch.namespaceSelector 没有选中命名空间 {0}：请按它的要求为 Namespace 加上标签',
  'namespace {0} is not one of watch.namespaces of the configuration: add it there':
    '命名空间 {0} 不在配置的 watch.namespaces 中：请把它加入',
  'watch.namespaces of the configuration does not include {0}: add it, or move the target':
    '配置的 watch.namespaces 不包括 {0}：请把它加入，或移动目标',
  'write either identity or identityPattern': '请写 identity 或 identityPattern 之一',
  'write exactly one of {0}': '请恰好写 {0} 之一',
  'this version does not know {0}, {1}': '该版本不认识 {0}，{1}',
  'nothing is chosen': '没有选择任何内容',
  '{0} exclude each other': '{0} 互相排斥',
  'write only the repository, without a tag or digest: select chooses the tag': '请只写仓库，不带标签或摘要：由 select 选择标签',
  '{0}: "{1}" is not a duration such as 30s, 10m or 1h30m': '{0}：“{1}”不是 30s、10m 或 1h30m 这样的时长',
  '{0} counts people, and this installation cannot know who approves: install the admission policy of the chart (admissionPolicy.enabled, permissions.clusterWide), or remove {1}':
    '{0} 按人计数，而该安装无法得知由谁批准：请安装 Chart 的准入策略（admissionPolicy.enabled、permissions.clusterWide），或移除 {1}',
  'spec.select: {0}: {1}': 'spec.select：{0}：{1}',
  'spec.targets[{0}]: write either name or selector': 'spec.targets[{0}]：请写 name 或 selector 之一',
  'this version does not know {0}, so it changes nothing for this policy': '该版本不认识 {0}，因此不为该策略修改任何内容',
  '{0}: remove that, or wait for a version that does': '{0}：请移除它，或等待支持它的版本',
  'select.digest with update.pin: Tag would never change anything: remove pin, or write Digest':
    'select.digest 与 update.pin: Tag 一起永远不会有修改：请移除 pin，或写 Digest',
  'write a spec: image, select and targets': '请写 spec：image、select 和 targets',
  'is not an object: write apiVersion, kind, metadata and spec': '不是对象：请写 apiVersion、kind、metadata 和 spec',
  '{0} is written by image-watcher alone: remove it from the manifests': '{0} 只由 image-watcher 写入：请从清单中移除它',
  'is missing: write {0}': '缺失：请写 {0}',
  'none of {0}': '不是 {0} 之一',
  'not {0}, the only version of {1}': '不是 {0}，即 {1} 的唯一版本',
  'the group {0} has only the {1} {2}': '组 {0} 只有 {1} {2}',
  'is missing: write at least metadata.name': '缺失：请至少写 metadata.name',
  'is missing: write a name, such as "web"': '缺失：请写名称，例如 "web"',
  '{0} is not a name: lower-case letters, digits, "-" and "." between letters or digits': '{0} 不是名称：小写字母和数字，中间可有“-”和“.”',
  '{0} is not a namespace: lower-case letters, digits and "-", at most 63': '{0} 不是命名空间：小写字母、数字和“-”，最多 63 个',
  'is not a list of names with their values': '不是名称与值的列表',
  'is {0}: write a text in quotes': '是 {0}：请写带引号的文本',
  'is not a name such as "app" or "example.com/app"': '不是 "app" 或 "example.com/app" 这样的名称',
  'the patterns of the policy compile to {0} instructions, and {1} are allowed: remove some, or write smaller repetition counts':
    '策略的模式编译为 {0} 条指令，而允许 {1} 条：请移除一些，或减小重复次数',
  '"{0}" has no group of allow, so all tags would be equal: write one, such as "$version" or "$1"':
    '“{0}”中没有 allow 的组，因此所有标签都相等：请写一个，例如 "$version" 或 "$1"',
  'excludes "{0}", the only tag that select.digest follows: remove tags, which select.digest does not need':
    '排除了 select.digest 所跟随的唯一标签“{0}”：请移除 tags，select.digest 不需要它',
  'no version is in the range "{0}"': '没有版本在范围“{0}”之中',
  'fields of {0} may not be written: name the field of the spec that holds the image':
    '不可以写入 {0} 的字段：请写出 spec 中含有镜像的字段',
  'these fields hold no digest: write update.pin: Tag with select.semver, or name a field for the digest':
    '这些字段中没有摘要：请写 update.pin: Tag 和 select.semver，或写出摘要的字段',
  'containers run images: name the fields that hold the version{0}, or remove spec.artifact: {1}':
    '容器运行的是镜像：请写出含有版本的字段{0}，或移除 spec.artifact: {1}',
  ', such as fields: {tag: {0}}': '，例如 fields: {tag: {0}}',
  'only Helm charts have a provenance: write artifact: Chart, or remove provenance':
    '只有 Helm chart 才有 provenance：请写 artifact: Chart，或移除 provenance',
  'spec.verify: write cosign, provenance or both': 'spec.verify：请写 cosign、provenance 或两者',
  '{0} of {1} may not be written: the version of a chart is in {2}': '不可以写入 {1} 的 {0}：chart 的版本在 {2} 中',
  'a chart has no platforms: remove platforms': 'chart 没有平台：请移除 platforms',
  'a digest is written only with update.pin: Digest: write that, or remove this field':
    '只有 update.pin: Digest 才写入摘要：请写上它，或移除该字段',
  'a digest alone does not show which image is newer: name the field of the tag as well, or follow a tag with select.digest':
    '只凭摘要看不出哪个镜像更新：请同时写出标签的字段，或用 select.digest 跟随标签',
  '"{0}" is none of {1}: write its apiVersion as well, as for every custom resource':
    '“{0}”不是 {1} 之一：请像所有定制资源一样同时写出 apiVersion',
  '{0} of {1} cannot be updated: write one of {2}, or a custom resource': '无法更新 {1} 的 {0}：请写 {2} 之一，或定制资源',
  '{0} is read as {1}/{2}: remove apiVersion': '{0} 按 {1}/{2} 读取：请移除 apiVersion',
  'fields are for custom resources: a {0} has containers, remove fields': 'fields 用于定制资源：{0} 有容器，请移除 fields',
  '{0} is written twice by this target: name each field once': '该目标写入 {0} 两次：每个字段请只写一次',
  '{0} is already a target, in targets[{1}]: keep one of them': '{0} 已是目标（targets[{1}]）：请只保留一个',
  '{0} with this selector': '带该选择器的 {0}',
  "has to match the whole tag and is not searched for in it: write '{0}' to match longer tags as well, or '^{1}$' to match this alone":
    "必须与整个标签匹配，而不是在其中搜索：要同时匹配更长的标签请写 '{0}'，只匹配它请写 '^{1}$'",
  'is missing: {0}': '缺失：{0}',
  '{0} is none of {1}{2}': '{0} 不是 {1} 之一',
  'is too small: {0} {1}': '过小：{0} {1}',
  'more than': '大于',
  'at least': '至少',
  'is empty: {0}': '为空：{0}',
  'is too {0}: at most {1} {2}': '过大：最多 {1} {2}',
  '{0} is not valid: {1}': '{0} 无效：{1}',
  'write it': '请写上它',
  'true or false': 'true 或 false',
  'a whole number': '整数',
  'fields with their values': '字段及其值',
  'names with their values': '名称及其值',
  'write it with its unit, such as 30s, 10m or 1h30m': '请写出单位，例如 30s、10m 或 1h30m',
  'write it in quotes': '请加引号',
  'remove it, or write {0}': '请移除它，或写 {0}',
  ', without quotes': '，不加引号',
  'an object with fields': '带字段的对象',
  'truth value': '真假值',
  'the policy has no spec: write what to watch, what to choose and what to update': '策略没有 spec：请写监视什么、选择什么、更新什么',
  'holds more than {0} values: write several policies, or shorter lists': '超过 {0} 个值：请写多个策略，或缩短列表',
  '"{0}" is in the list twice': '“{0}”在列表中出现两次',
  'is too large: at most {0} entries': '过大：最多 {0} 个条目',
  'is not a field{0}': '不是字段{0}',
  '; there are no fields here': '；这里没有字段',
  '; the fields are {0}': '；字段有 {0}',
  'is {0}: {1}': '是 {0}：{1}',
  'write {0}{1}': '请写 {0}',
  'the policies of namespace {0} name more than {1} kinds of custom resources, and {2} of {3} is not among the first {4} by the age of the policies: remove targets of other kinds, or move policies to another namespace':
    '命名空间 {0} 的策略写出了超过 {1} 种定制资源，而 {3} 的 {2} 按策略的先后不在前 {4} 种之中：请移除其他类型的目标，或把策略移到另一个命名空间',
  'the watch of {0} is stopped': '对 {0} 的监视已停止',
  ' in API group "{0}"': '（API 组“{0}”）',
  'not permitted: grant image-watcher the verbs "list" and "watch" on "{0}"{1}: {2}':
    '没有权限：请授予 image-watcher 对“{0}”的 "list" 和 "watch" 权限{1}：{2}',
  '{0} has not been discovered yet': '还没有发现 {0}',
  'the API server does not serve {0} of {1}: install its CustomResourceDefinition, or correct apiVersion and kind':
    'API server 不提供 {1} 的 {0}：请安装它的 CustomResourceDefinition，或更正 apiVersion 和 kind',
  '{0} of {1} is not namespaced': '{1} 的 {0} 不属于命名空间',
  '"{0}" cannot be updated; supported kinds: {1}': '无法更新“{0}”；支持的类型：{1}',
  '"{0}" cannot be the name of a Kubernetes object': '“{0}”不能是 Kubernetes 对象的名称',
  'its Namespace may not be read: grant image-watcher the verb "get" on "namespaces": {0}':
    '不可以读取它的 Namespace：请授予 image-watcher 对“namespaces”的 "get" 权限：{0}',
  'the API server refuses the change: {0}': 'API server 拒绝了修改：{0}',
  'not permitted: grant image-watcher the verb "patch" on "{0}": {1}': '没有权限：请授予 image-watcher 对“{0}”的 "patch" 权限：{1}',
  "refused by the cluster's policies: {0}": '被集群的策略拒绝：{0}',
  'may not be read: grant image-watcher the verb "get" on "secrets" in namespace {0}':
    '不可以读取：请授予 image-watcher 对命名空间 {0} 中“secrets”的 "get" 权限',
  'Secret {0} cannot be read': '无法读取 Secret {0}',
};
