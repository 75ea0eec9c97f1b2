// A seccomp filter: a classic BPF program that the kernel runs before each system call of the sandbox. Layout and
// constants are from linux/filter.h, linux/seccomp.h and linux/audit.h; numbers from
// arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.18.

interface Machine {
  /** AUDIT_ARCH_*. */
  audit: number
  /** Column of the architecture's numbers. */
  column: 0 | 1
}

const machines: Partial<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
}

/** Numbers on x86_64 and aarch64; undefined if there is no such call. */
type Numbers = readonly [number | undefined, number | undefined]

/** Calls that no command needs: they reach the kernel, other processes, or memory outside the limits. */
const REFUSED: Record<string, Numbers> = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Keyrings of the user, whom the sandbox may share with the server.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large kernel subsystems with a history of vulnerabilities.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  vmsplice: [278, 75],
  // Mounts and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Memory outside the address space of a process.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
  // The machine.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  vhangup: [153, 58],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
}

/** Calls that glibc tries first and can do without: a filter cannot read their arguments in memory. */
const MISSING: Record<string, Numbers> = { clone3: [435, 435] }

/** The highest number that was reviewed; later ones fail with ENOSYS. */
const NEWEST = 462

/** CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID and _NEWNET. */
const NEW_NAMESPACE = 0x7e020000
const clone: Numbers = [56, 220]
const ioctl: Numbers = [16, 29]
/** Terminal input: TIOCSTI and TIOCLINUX. */
const TERMINAL_INPUT = [0x5412, 0x541c]
const sockets: readonly Numbers[] = [
  [41, 198],
  [53, 199],
]
const AF_UNIX = 1

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const error = (errno: number): number => 0x00050000 | errno

/** Instructions: load a word of `seccomp_data`, compare it, return. Jumps count skipped instructions. */
const load = (offset: number) => [0x20, 0, 0, offset] as const
const skipUnless = (code: number, value: number, skipped: number) => [code, 0, skipped, value] as const
const EQUAL = 0x15
const GREATER = 0x25
const ANY_BIT = 0x45
const answer = (action: number) => [0x06, 0, 0, action] as const
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const NUMBER = 0
const ARCHITECTURE = 4
/** Offset of an argument's lower half; both architectures are little-endian. */
const argument = (index: number): number => 16 + 8 * index

/** The filter for an architecture as in `process.arch`; undefined for unsupported ones. */
export function syscallFilter(arch: string = process.arch): Uint8Array | undefined {
  const machine = machines[arch]
  if (!machine) return undefined
  const { audit, column } = machine
  const refuse = (calls: Record<string, Numbers>, errno: number): Instruction[] =>
    Object.values(calls).flatMap((numbers) => {
      const number = numbers[column]
      return number === undefined ? [] : [skipUnless(EQUAL, number, 1), answer(error(errno))]
    })
  /** Tests one argument of a call: the first matching test decides, else `otherwise`. */
  const testArgument = (numbers: Numbers, index: number, tests: Instruction[], otherwise: number): Instruction[] => {
    const body = [load(argument(index)), ...tests, answer(otherwise)]
    return [skipUnless(EQUAL, numbers[column]!, body.length), ...body]
  }
  const program: Instruction[] = [
    load(ARCHITECTURE),
    [EQUAL, 1, 0, audit],
    answer(KILL),
    load(NUMBER),
    skipUnless(GREATER, NEWEST, 1),
    answer(error(ENOSYS)),
    ...refuse(REFUSED, EPERM),
    ...refuse(MISSING, ENOSYS),
    ...testArgument(clone, 0, [skipUnless(ANY_BIT, NEW_NAMESPACE, 1), answer(error(EPERM))], ALLOW),
    ...testArgument(
      ioctl,
      1,
      TERMINAL_INPUT.flatMap((request) => [skipUnless(EQUAL, request, 1), answer(error(EPERM))]),
      ALLOW,
    ),
    // Network namespaces do not isolate every family: AF_VSOCK reaches the host of a virtual machine.
    ...sockets.flatMap((numbers) =>
      testArgument(numbers, 0, [skipUnless(EQUAL, AF_UNIX, 1), answer(ALLOW)], error(EAFNOSUPPORT)),
    ),
    answer(ALLOW),
  ]
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, ifTrue)
    bytes.setUint8(index * 8 + 3, ifFalse)
    bytes.setUint32(index * 8 + 4, value >>> 0, true)
  }
  return new Uint8Array(bytes.buffer)
}
