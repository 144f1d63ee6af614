import type { ToolchainRow } from './row.ts';

const testFile = 'def test_add():\n    assert 1 + 1 == 2\n';

export const pythonRows: readonly ToolchainRow[] = [
  {
    run: 'python -m venv, pip install, pytest',
    files: { 'test_add.py': testFile },
    needs: ['python3'],
    first: 'python3 -m venv .venv && .venv/bin/pip install -q pytest && .venv/bin/pytest -q',
    second: '.venv/bin/pytest -q && .venv/bin/python -c "import pytest"',
  },
  {
    run: 'pip install into an existing .venv',
    isSecondOutside: true,
    needs: ['python3'],
    first: 'python3 -m venv .venv && .venv/bin/pip install -q six',
    second: '.venv/bin/pip install -q idna',
  },
  { run: 'pip download', needs: ['pip'], first: 'pip download -q --no-deps six && ls six-*.whl && rm six-*.whl' },
  {
    run: 'pip install of a source package (C)',
    needs: ['python3', 'gcc'],
    files: {
      'setup.py':
        'from setuptools import setup, Extension\nsetup(name="fast", version="1", ext_modules=[Extension("fast", ["fast.c"])])\n',
      'fast.c':
        '#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "fast", 0, -1, 0};\nPyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&m); }\n',
    },
    first: 'python3 -m venv env && env/bin/pip install -q . && env/bin/python -c "import fast"',
    second: 'env/bin/python -c "import fast"',
  },
  {
    run: 'uv venv, uv pip install, uv run',
    needs: ['python3'],
    files: {
      'pyproject.toml': '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["six"]\n',
      'test_add.py': testFile,
    },
    first: 'python3 -m venv tools && tools/bin/pip install -q uv && tools/bin/uv run python -c "import six"',
    second: 'tools/bin/uv run python -c "import six"',
  },
  {
    run: 'poetry install, run',
    needs: ['python3'],
    files: {
      'pyproject.toml':
        '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.11,<4"\ndependencies = ["six"]\n[tool.poetry]\npackage-mode = false\n',
    },
    first:
      'python3 -m venv tools && tools/bin/pip install -q poetry && tools/bin/poetry install -q && tools/bin/poetry run python -c "import six"',
    second: 'tools/bin/poetry run python -c "import six"',
  },
  {
    run: 'multiprocessing, shared memory, sockets in the workspace',
    needs: ['python3'],
    files: {
      'pool.py':
        'import multiprocessing as m, socket, os, threading\nfrom multiprocessing import shared_memory\ndef f(x): return x * x\nif __name__ == "__main__":\n    with m.Pool(2) as p: assert p.map(f, [1, 2]) == [1, 4]\n    s = shared_memory.SharedMemory(create=True, size=16); s.close(); s.unlink()\n    server = socket.socket(socket.AF_UNIX); server.bind("my.sock"); server.listen()\n    client = socket.socket(socket.AF_UNIX); client.connect("my.sock"); os.unlink("my.sock")\n',
    },
    first: 'python3 pool.py',
  },
];
