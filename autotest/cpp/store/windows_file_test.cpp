// What is particular to files of Windows.
#include <gtest/gtest.h>
#include <windows.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/locks.h"

namespace zarrcore::test::windows_file_test {
namespace {

namespace fs = std::filesystem;

class WindowsFile : public testing::Test {
 protected:
  std::size_t entry_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  std::wstring wide(const char* name) const { return (folder_.path() / name).wstring(); }

  TemporaryFolder folder_;
  FileSystemStore file_system_store_{folder_.path()};
  Store& store_ = file_system_store_;
};

TEST_F(WindowsFile, NamesThatWindowsForbidsAreErrors) {
  const std::string problem = "cannot be the name of a file on Windows";
  for (const char* key : {"CON", "con/c/0", "nul.json", "Com1", "lpt9.txt", "conout$", "a.", "a ",
                          "b./c", "a:b", "a:b/c", "a?", "a*", "a\"b", "a<b", "a|b", "a\tb"}) {
    EXPECT_ERROR(store_.put(key, bytes_of("1")), problem) << key;
    EXPECT_ERROR(store_.get(key), problem) << key;
    EXPECT_ERROR(store_.has(key), problem) << key;
    EXPECT_ERROR(store_.list(key), problem) << key;
    EXPECT_ERROR(store_.erase(key), problem) << key;
  }
  EXPECT_EQ(entry_count(), 0U);
  for (const char* key : {"CONSOLE", "com", "com10", ".a", "a.b", "null"}) {
    store_.put(key, bytes_of("1"));
    EXPECT_TRUE(store_.has(key)) << key;
  }
}

TEST_F(WindowsFile, BytesThatAreNotUtf8AreAnError) {
  EXPECT_ERROR(store_.put("a\xff", bytes_of("1")), "not UTF-8");
}

TEST_F(WindowsFile, PathsMayBeLong) {
  std::string key;
  for (int depth = 0; depth < 40; ++depth) key += "a folder with a long name/";
  store_.put(key + "c", bytes_of("value"));
  EXPECT_EQ(store_.get(key + "c")->text(), "value");
  EXPECT_EQ(store_.list(key.substr(0, key.size() - 1)).keys, std::vector<std::string>{"c"});
  store_.rename_prefix("a folder with a long name", "b");
  EXPECT_FALSE(store_.has(key + "c"));
  store_.erase_prefix("b");
  EXPECT_EQ(entry_count(), 0U);
}

TEST_F(WindowsFile, NamesAreUtf8) {
  const std::string name =
      "Stra\xc3\x9f"
      "e \xe6\xb0\xb4 \xf0\x9f\x8c\x8d";
  store_.put(name + "/0", bytes_of("value"));
  EXPECT_TRUE(fs::exists(folder_.path() / L"Stra\u00dfe \u6c34 \U0001f30d" / L"0"));
  EXPECT_EQ(store_.list("").prefixes, std::vector<std::string>{name});
  FileSystemStore store(path_of_utf8(utf8_of(folder_.path()) + '/' + name));
  Store& inside = store;
  EXPECT_EQ(inside.get("0")->text(), "value");
  EXPECT_EQ(inside.parent()->name, name);
}

TEST_F(WindowsFile, AValueThatIsReplacedStaysOpen) {
  store_.put("a", bytes_of("old"));
  const auto opened = store_.open("a");
  EXPECT_EQ(opened->get(100)->text(), "old");
  store_.put("a", bytes_of("replaced"));
  EXPECT_EQ(opened->get(100)->text(), "old");
  EXPECT_EQ(store_.get("a")->text(), "replaced");
  EXPECT_TRUE(store_.erase("a"));
  EXPECT_FALSE(store_.has("a"));
}

// Also on file systems that cannot replace an open file.
TEST_F(WindowsFile, AReleasedValueIsReplacedAndNoLongerRead) {
  store_.put("a", bytes_of("old"));
  const auto opened = store_.open("a");
  EXPECT_EQ(opened->get(100)->text(), "old");
  opened->release();
  store_.put("a", bytes_of("replaced"));
  EXPECT_THROW(opened->get(100), ValueChanged);
  EXPECT_EQ(store_.get("a")->text(), "replaced");
}

TEST_F(WindowsFile, AnotherProgramDelaysAPut) {
  store_.put("a", bytes_of("old"));
  // Like a program that does not expect files to be replaced.
  const HANDLE reader = ::CreateFileW(wide("a").c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr,
                                      OPEN_EXISTING, 0, nullptr);
  ASSERT_NE(reader, INVALID_HANDLE_VALUE);
  EXPECT_ERROR(store_.put("a", bytes_of("new")), "/a: ");
  EXPECT_EQ(store_.get("a")->text(), "old");
  EXPECT_EQ(entry_count(), 1U);
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::CloseHandle(reader);
  });
  store_.put("a", bytes_of("new"));
  closer.join();
  EXPECT_EQ(store_.get("a")->text(), "new");
}

TEST_F(WindowsFile, LocksLeaveNoFiles) {
  store_.put("group/a", bytes_of("1"));
  const auto version = store_.current_version("group/a");
  {
    const auto lock = store_.lock("group");
  }
  const std::array<ValuePart, 1> parts{ValuePart{}};
  EXPECT_TRUE(store_.put_parts("group/a", parts, {version}));
  EXPECT_EQ(
      std::distance(fs::directory_iterator(folder_.path() / "group"), fs::directory_iterator()), 1);
}

TEST_F(WindowsFile, FilesOfKilledWritersAreRemovedAndThoseOfOthersKept) {
  const auto make = [&](const char* name, DWORD share) {
    const HANDLE file =
        ::CreateFileW(wide(name).c_str(), GENERIC_WRITE, share, nullptr, CREATE_NEW, 0, nullptr);
    const FILETIME long_ago{0, 30'000'000};
    ::SetFileTime(file, nullptr, nullptr, &long_ago);
    return file;
  };
  ::CloseHandle(make(".1-2-3-4.zarr-partial", 0));
  const HANDLE writer = make(".1-2-3-5.zarr-partial", FILE_SHARE_READ);
  store_.remove_leftovers();
  EXPECT_EQ(entry_count(), 1U);
  ::CloseHandle(writer);
}

constexpr const wchar_t* kFolder = L"ZARRCORE_TEST_FOLDER";
constexpr int kSteps = 100;

// Counts in a file in which others also count.
void count(const fs::path& file, const auto& lock) {
  for (int i = 0; i < kSteps; ++i) {
    const auto held = lock();
    int number = 0;
    std::ifstream(file) >> number;
    std::ofstream(file) << number + 1;
  }
}

void count_with_both(const fs::path& folder) {
  FileSystemStore store(folder);
  count(folder / "folder", [&] { return store.lock("locked"); });
  const FileLocks locks(folder / "sync");
  count(folder / "file", [&] { return locks.lock("0.0"); });
}

// In another process.
TEST(WindowsChild, DISABLED_Counts) {
  std::array<wchar_t, 1024> folder{};
  ASSERT_NE(::GetEnvironmentVariableW(kFolder, folder.data(), folder.size()), 0);
  count_with_both(folder.data());
}

HANDLE start_child() {
  std::array<wchar_t, 1024> program{};
  ::GetModuleFileNameW(nullptr, program.data(), program.size());
  std::wstring command = L'"' + std::wstring(program.data()) +
                         L"\" --gtest_also_run_disabled_tests --gtest_brief=1 "
                         L"--gtest_filter=WindowsChild.DISABLED_Counts";
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process{};
  if (::CreateProcessW(nullptr, command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr,
                       &startup, &process) == 0) {
    return nullptr;
  }
  ::CloseHandle(process.hThread);
  return process.hProcess;
}

TEST_F(WindowsFile, ProcessesAndThreadsExcludeEachOther) {
  ASSERT_NE(::SetEnvironmentVariableW(kFolder, folder_.path().wstring().c_str()), 0);
  const std::array<HANDLE, 2> children{start_child(), start_child()};
  std::thread thread([&] { count_with_both(folder_.path()); });
  count_with_both(folder_.path());
  thread.join();
  for (const HANDLE child : children) {
    ASSERT_NE(child, nullptr);
    ::WaitForSingleObject(child, INFINITE);
    DWORD code = 1;
    EXPECT_NE(::GetExitCodeProcess(child, &code), 0);
    EXPECT_EQ(code, 0);
    ::CloseHandle(child);
  }
  for (const char* file : {"folder", "file"}) {
    int number = -1;
    std::ifstream(folder_.path() / file) >> number;
    EXPECT_EQ(number, 4 * kSteps) << file;
  }
}

}  // namespace
}  // namespace zarrcore::test::windows_file_test
